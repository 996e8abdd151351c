import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { HookEvent } from "../../../domain/facts.ts";
import type { RunningLaunch } from "../../../ports/agent-target.ts";
import { asMembers, recordsIn, timeOf } from "../json-lines.ts";
import { readTail } from "../log-files.ts";
import { isConversationId, statusPath, transcriptPaths } from "./claude-files.ts";
import type { OWN_EVENTS } from "./interpret.ts";
import { isInterrupt, isPrompt, type LogRecord } from "./log-record.ts";

/** How much of the end of a log is read, in bytes. */
const TAIL_BYTES = 256 * 1024;
/**
 * Without a word of its own in the log no hook comes; a log is written before claude says that it rests, or just after.
 */
const NO_HOOK_MS = 500;
const LOST_HOOK_MS = 5_000;
/** The record of a prompt on standard input may be older than the word that claude has started: by that at most. */
const EARLY_MS = 3_000;
/**
 * An Enter that follows a paste at once is lost while claude draws its first screen: in 7 of 8 tries within 100 ms
 * of the word that it is idle, in none of 6 from 500 ms on (2.1.197, a busy machine).
 */
const DRAWN_MS = 1_000;

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
  const { pid, nowMs, workspacePath, sessionId, launchId } = launch;
  const status = pid === null ? undefined : await readStatus(folder, pid, workspacePath);
  if (status === undefined) return [];
  const told = await toldBy(status);
  if (told === undefined) return [];
  const { name, key, atMs } = told;
  const body = JSON.stringify({ session_id: status.sessionId });
  const id = `${launchId}-${name}-${key}`;
  return [{ id, sessionId, launchId, agent: "claude-code", event: name, atMs, body }];

  async function toldBy({ status: word, sinceMs, sessionId: conversation, startedAtMs }: OwnStatus) {
    const since = { key: String(sinceMs), atMs: sinceMs };
    const name = WHILE.get(word);
    if (name !== undefined) return { name, ...since };
    if (word !== "idle") return undefined;
    const last = lastWord(await readRecords(folder, workspacePath, conversation), startedAtMs);
    return last === undefined ? readiness(launch, since) : restingAfter(last, since, nowMs);
  }
}

const WHILE: ReadonlyMap<string, OwnEvent> = new Map([
  ["waiting", "ao:waiting"],
  ["busy", "ao:busy"],
]);

async function readiness(
  launch: RunningLaunch,
  since: Pick<Told, "key" | "atMs">,
): Promise<Told | undefined> {
  const atMs = since.atMs + DRAWN_MS;
  const isDrawn = launch.nowMs >= atMs;
  return isDrawn && !(await isPrompted(launch)) ? { name: "ao:ready", key: since.key, atMs } : undefined;
}

interface Told {
  readonly name: OwnEvent;
  /** The same whenever it is read. */
  readonly key: string;
  readonly atMs: number;
}

/** How its turn ended, once claude rests: by the log, or because no hook told it in time. */
function restingAfter(last: LastWord, since: Pick<Told, "key" | "atMs">, nowMs: number): Told | undefined {
  if (last.kind === "interrupted") return { name: "ao:interrupted", key: last.key, atMs: last.atMs };
  const restsMs = nowMs - since.atMs;
  if (last.kind === "asked") return restsMs > NO_HOOK_MS ? { name: "ao:interrupted", ...since } : undefined;
  return restsMs > LOST_HOOK_MS ? { name: "ao:stopped", ...since } : undefined;
}

/** One that was started with a prompt rests only after that. */
async function isPrompted({ launchDir }: RunningLaunch): Promise<boolean> {
  return stat(join(launchDir, "prompt")).then(
    () => true,
    () => false,
  );
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

async function readRecords(folder: string, workspacePath: string, id: string): Promise<readonly LogRecord[]> {
  const paths = await transcriptPaths(folder, { id, workspacePath }).catch(() => []);
  for (const path of paths) {
    const tail = await readTail(path, TAIL_BYTES);
    if (tail !== undefined) return recordsIn(tail).map(({ record }) => record);
  }
  return [];
}

type LastWord =
  | { readonly kind: "interrupted"; readonly key: string; readonly atMs: number }
  | { readonly kind: "asked" | "answered" };

/** How the conversation stands by its last record of this process that says so. */
function lastWord(records: readonly LogRecord[], startedAtMs: number): LastWord | undefined {
  return records.map((record) => wordOf(record, startedAtMs)).findLast((word) => word !== undefined);
}

function wordOf(record: LogRecord, startedAtMs: number): LastWord | undefined {
  const atMs = timeOf(record);
  if (atMs === null || atMs < startedAtMs - EARLY_MS || record["isSidechain"] === true) return undefined;
  const { uuid } = record;
  if (isInterrupt(record))
    return { kind: "interrupted", key: typeof uuid === "string" ? uuid : String(atMs), atMs };
  if (isPrompt(record)) return { kind: "asked" };
  if (record["type"] !== "assistant") return undefined;
  const ended =
    asMembers(record["message"])?.["stop_reason"] === "end_turn" || record["isApiErrorMessage"] === true;
  return ended ? { kind: "answered" } : { kind: "asked" };
}
