import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { HookEvent } from "../../../domain/facts.ts";
import type { RunningLaunch } from "../../../ports/agent-target.ts";
import { recordsIn, timeOf } from "../json-lines.ts";
import { readTail } from "../log-files.ts";
import { findRollout } from "./codex-files.ts";
import type { OWN_EVENTS } from "./interpret.ts";
import { isTurnStart, type RolloutRecord, resultIn, type TurnEnd, turnEndIn } from "./rollout-record.ts";

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

interface Told {
  readonly event: OwnEvent;
  /** The same whenever it is read. */
  readonly key: string;
  readonly atMs: number;
  readonly body: object;
}

/**
 * What codex tells of a launch by its log alone, where it fires no hook (0.171.0): that the model's service ended the
 * turn with an error, and that a tool that was given leave goes on in the background; and how the last turn ended,
 * should a hook be lost. Never rejects.
 */
export async function readOwnEvents(folder: string, launch: RunningLaunch): Promise<readonly HookEvent[]> {
  const { agentSessionId: conversation, nowMs, launchDir, sessionId, launchId } = launch;
  const sinceMs = await launchedAtMs(launchDir);
  if (conversation === null || sinceMs === undefined) return [];
  const told = lastTold(await readRecords(folder, conversation), nowMs);
  if (told === undefined || told.atMs < sinceMs) return [];
  const { event, key, atMs } = told;
  const body = JSON.stringify({ ...told.body, session_id: conversation });
  return [{ id: `${launchId}-${event}-${key}`, sessionId, launchId, agent: "codex", event, atMs, body }];
}

async function launchedAtMs(launchDir: string): Promise<number | undefined> {
  return stat(join(launchDir, HOOK_FILE)).then(
    ({ mtimeMs }) => mtimeMs,
    () => undefined,
  );
}

/** The last records of a conversation, oldest first. */
export async function readRecords(folder: string, id: string): Promise<readonly RolloutRecord[]> {
  const path = await findRollout(folder, id).catch(() => undefined);
  const tail = path === undefined ? undefined : await readTail(path, TAIL_BYTES);
  return tail === undefined ? [] : recordsIn(tail).map(({ record }) => record);
}

/** The last thing that it says of a turn. */
function lastTold(records: readonly RolloutRecord[], nowMs: number): Told | undefined {
  const record = records.findLast(
    (one) => isTurnStart(one) || turnEndIn(one) !== undefined || resultIn(one) !== undefined,
  );
  const atMs = record === undefined ? null : timeOf(record);
  if (record === undefined || atMs === null) return undefined;
  const result = resultIn(record);
  if (result !== undefined) return { event: "ao:busy", key: result, atMs, body: {} };
  const end = turnEndIn(record);
  const isHooked = end === undefined || (end.kind !== "failed" && nowMs - atMs < LOST_HOOK_MS);
  return isHooked ? undefined : { event: NAMES[end.kind], key: end.turnId, atMs, body: end };
}
