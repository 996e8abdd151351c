import { open, readFile } from "node:fs/promises";
import type { HookEvent } from "../../../domain/facts.ts";
import type { RunningLaunch } from "../../../ports/agent-target.ts";
import { isConversationId, statusPath, transcriptPaths } from "./claude-files.ts";
import type { OWN_EVENTS } from "./interpret.ts";
import { asMembers, isInterrupt, isPrompt, type LogRecord, recordsIn, timeOf } from "./log-record.ts";

/** How much of the end of a log is read, in bytes. */
const TAIL_BYTES = 256 * 1024;
/** A hook of a turn's end takes that long at most to arrive after claude rests; then there is none. */
const NO_HOOK_MS = 1_500;
const LOST_HOOK_MS = 5_000;

/** What claude says of its own process (2.1.197). */
interface OwnStatus {
  readonly status: string;
  readonly sessionId: string;
  readonly startedAtMs: number;
  readonly sinceMs: number;
}

type OwnEvent = (typeof OWN_EVENTS)[number];

/**
 * What claude tells of a launch by files alone, where it fires no hook (2.1.197): that a person interrupted it, said
 * no, or stopped it before its first word; and what it does now, should a hook be lost. Never rejects.
 */
export async function readOwnEvents(folder: string, launch: RunningLaunch): Promise<readonly HookEvent[]> {
  const { pid, nowMs } = launch;
  const status = pid === null ? undefined : await readStatus(folder, pid, launch.workspacePath);
  if (status === undefined) return [];
  const event = (name: OwnEvent, key: string | number, atMs: number): HookEvent => {
    const { sessionId, launchId } = launch;
    const body = JSON.stringify({ session_id: status.sessionId });
    return {
      id: `${launchId}-${name}-${key}`,
      sessionId,
      launchId,
      agent: "claude-code",
      event: name,
      atMs,
      body,
    };
  };
  const { sinceMs } = status;
  if (status.status === "waiting") return [event("ao:waiting", sinceMs, sinceMs)];
  if (status.status === "busy") return [event("ao:busy", sinceMs, sinceMs)];
  if (status.status !== "idle") return [];
  const last = lastWord(await readTail(folder, launch.workspacePath, status.sessionId), status.startedAtMs);
  if (last?.kind === "interrupted") return [event("ao:interrupted", last.key, last.atMs)];
  const restsMs = nowMs - sinceMs;
  if (last?.kind === "answered") return restsMs > LOST_HOOK_MS ? [event("ao:stopped", sinceMs, sinceMs)] : [];
  return last?.kind === "asked" && restsMs > NO_HOOK_MS ? [event("ao:interrupted", sinceMs, sinceMs)] : [];
}

async function readStatus(
  folder: string,
  pid: number,
  workspacePath: string,
): Promise<OwnStatus | undefined> {
  try {
    const members = asMembers(JSON.parse(await readFile(statusPath(folder, pid), "utf8")));
    const { status, sessionId, cwd, startedAt, statusUpdatedAt, pid: own } = members ?? {};
    if (own !== pid || cwd !== workspacePath || typeof status !== "string") return undefined;
    if (typeof sessionId !== "string" || !isConversationId(sessionId)) return undefined;
    if (typeof startedAt !== "number" || typeof statusUpdatedAt !== "number") return undefined;
    return { status, sessionId, startedAtMs: startedAt, sinceMs: statusUpdatedAt };
  } catch {
    return undefined;
  }
}

async function readTail(folder: string, workspacePath: string, id: string): Promise<readonly LogRecord[]> {
  for (const path of await transcriptPaths(folder, { id, workspacePath })) {
    const tail = await tailOf(path);
    if (tail !== undefined) return recordsIn(tail).map(({ record }) => record);
  }
  return [];
}

async function tailOf(path: string): Promise<string | undefined> {
  try {
    const file = await open(path, "r");
    try {
      const { size } = await file.stat();
      const length = Math.min(size, TAIL_BYTES);
      const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, size - length);
      return buffer.subarray(0, bytesRead).toString("utf8");
    } finally {
      await file.close();
    }
  } catch {
    return undefined;
  }
}

type LastWord =
  | { readonly kind: "interrupted"; readonly key: string; readonly atMs: number }
  | { readonly kind: "asked" | "answered" };

/** How the conversation stands by its last record of this process that says so. */
function lastWord(records: readonly LogRecord[], startedAtMs: number): LastWord | undefined {
  return records.findLast((record) => wordOf(record, startedAtMs) !== undefined) === undefined
    ? undefined
    : records.map((record) => wordOf(record, startedAtMs)).findLast((word) => word !== undefined);
}

function wordOf(record: LogRecord, startedAtMs: number): LastWord | undefined {
  const atMs = timeOf(record);
  if (atMs === null || atMs < startedAtMs || record["isSidechain"] === true) return undefined;
  const { uuid } = record;
  if (isInterrupt(record))
    return { kind: "interrupted", key: typeof uuid === "string" ? uuid : String(atMs), atMs };
  if (isPrompt(record)) return { kind: "asked" };
  if (record["type"] !== "assistant") return undefined;
  const ended =
    asMembers(record["message"])?.["stop_reason"] === "end_turn" || record["isApiErrorMessage"] === true;
  return ended ? { kind: "answered" } : { kind: "asked" };
}
