import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { HookEvent } from "../../../domain/facts.ts";
import type { RunningLaunch } from "../../../ports/agent-target.ts";
import { recordsIn, timeOf } from "../json-lines.ts";
import { readTail } from "../log-files.ts";
import { findRollout } from "./codex-files.ts";
import type { OWN_EVENTS } from "./interpret.ts";
import { isTurnStart, type RolloutRecord, type TurnEnd, turnEndIn } from "./rollout-record.ts";

/** How much of the end of a log is read, in bytes. */
const TAIL_BYTES = 256 * 1024;
/** A hook of the same comes within milliseconds (0.171.0); after this it is lost. */
const LOST_HOOK_MS = 5_000;

/** The script of this launch's hooks, by whose age what an earlier launch wrote is told apart. */
export const HOOK_FILE = "hook.sh";

type OwnEvent = (typeof OWN_EVENTS)[number];

const NAMES: Readonly<Record<TurnEnd["kind"], OwnEvent>> = {
  failed: "ao:failed",
  interrupted: "ao:interrupted",
  completed: "ao:stopped",
};

/**
 * What codex tells of a launch by its log alone, where it fires no hook (0.171.0): that the model's service ended the
 * turn with an error; and how the last turn ended, should a hook be lost. Never rejects.
 */
export async function readOwnEvents(folder: string, launch: RunningLaunch): Promise<readonly HookEvent[]> {
  const { agentSessionId: conversation, nowMs, launchDir, sessionId, launchId } = launch;
  const sinceMs = await launchedAtMs(launchDir);
  if (conversation === null || sinceMs === undefined) return [];
  const last = lastEnd(await readRecords(folder, conversation));
  if (last === undefined || last.atMs < sinceMs) return [];
  const { end, atMs } = last;
  if (end.kind !== "failed" && nowMs - atMs < LOST_HOOK_MS) return [];
  const event = NAMES[end.kind];
  const id = `${launchId}-${event}-${end.turnId}`;
  const body = JSON.stringify({ ...end, session_id: conversation });
  return [{ id, sessionId, launchId, agent: "codex", event, atMs, body }];
}

async function launchedAtMs(launchDir: string): Promise<number | undefined> {
  return stat(join(launchDir, HOOK_FILE)).then(
    ({ mtimeMs }) => mtimeMs,
    () => undefined,
  );
}

/** The last records of a conversation, oldest first. */
export async function readRecords(folder: string, id: string): Promise<readonly RolloutRecord[]> {
  const path = await findRollout(folder, id);
  const tail = path === undefined ? undefined : await readTail(path, TAIL_BYTES);
  return tail === undefined ? [] : recordsIn(tail).map(({ record }) => record);
}

/** The end of the last turn, unless another began since. */
function lastEnd(
  records: readonly RolloutRecord[],
): { readonly end: TurnEnd; readonly atMs: number } | undefined {
  const record = records.findLast((one) => isTurnStart(one) || turnEndIn(one) !== undefined);
  if (record === undefined) return undefined;
  const [end, atMs] = [turnEndIn(record), timeOf(record)];
  return end === undefined || atMs === null ? undefined : { end, atMs };
}
