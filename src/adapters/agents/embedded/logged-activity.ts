import { type FileHandle, open } from "node:fs/promises";
import type { ActivityState } from "../../../domain/lifecycle.ts";
import type { LoggedActivity } from "../../../ports/agent.ts";
import { asPosition, parseLine } from "./conversation-entries.ts";
import { conversationFile, isConversationId } from "./conversation-path.ts";
import { ACTIVITY_AFTER, turnEnd } from "./interpret.ts";
import type { ConversationRecord } from "./program/conversation-record.ts";

type Fields = Readonly<Record<string, unknown>>;

/** What is read of the end of a log at first, and of its beginning, in bytes. */
const END_BYTES = 64 * 1024;
const START_BYTES = 4096;

const WHILE: ReadonlyMap<unknown, ActivityState> = new Map<ConversationRecord["kind"], ActivityState>([
  ["conversation", "ready"],
  ["prompt", "active"],
  ["answer", "active"],
  ["reply", "active"],
  ["question", "waiting_input"],
  ["edit", "active"],
]);

/** Only the last record counts, as its position tells: what a fork took over stands after its own first line. */
function laterOf(last: Fields | undefined, next: Fields): Fields | undefined {
  const [lastPosition, position] = [asPosition(last?.["position"]) ?? 0, asPosition(next["position"])];
  return position !== undefined && position > lastPosition ? next : last;
}

function lastIn(lines: readonly string[]): Fields | undefined {
  return lines
    .map(parseLine)
    .filter((fields) => fields !== undefined)
    .reduce<Fields | undefined>(laterOf, undefined);
}

function activityIn(last: Fields): LoggedActivity | undefined {
  const { kind, outcome, atMs } = last;
  const isEnd = kind === "turn_end";
  const state = isEnd ? ACTIVITY_AFTER.get(outcome) : WHILE.get(kind);
  const at = asPosition(atMs);
  if (state === undefined || at === undefined) return undefined;
  return { state, atMs: at, ...(isEnd && { turn: turnEnd(last) }) };
}

async function textOf(file: FileHandle, from: number, bytes: number): Promise<string> {
  const { bytesRead, buffer } = await file.read(Buffer.alloc(bytes), 0, bytes, from);
  return buffer.toString("utf8", 0, bytesRead);
}

/** The last record: from the first line and the end, or from all of it where the end is one long line. */
async function lastRecord(file: FileHandle, sizeBytes: number): Promise<Fields | undefined> {
  const from = Math.max(0, sizeBytes - END_BYTES);
  const [cut = "", ...end] = (await textOf(file, from, sizeBytes - from)).split("\n");
  if (from === 0) return lastIn([cut, ...end]);
  const [first = ""] = (await textOf(file, 0, START_BYTES)).split("\n");
  const isSeen = end.some((line) => parseLine(line) !== undefined);
  return isSeen ? lastIn([first, ...end]) : lastIn((await textOf(file, 0, sizeBytes)).split("\n"));
}

async function readLast(path: string, sinceMs: number | undefined): Promise<LoggedActivity | undefined> {
  const file = await open(path);
  try {
    const { size, mtimeMs } = await file.stat();
    if (sinceMs !== undefined && mtimeMs <= sinceMs) return undefined;
    const last = await lastRecord(file, size);
    return last && activityIn(last);
  } finally {
    await file.close();
  }
}

/**
 * What the last record of a conversation file says that its agent does; `undefined` when it says nothing.
 *
 * @param sinceMs a file that was not changed after it is not read.
 */
export async function readLoggedActivity(
  dir: string,
  id: string,
  sinceMs?: number,
): Promise<LoggedActivity | undefined> {
  if (!isConversationId(id)) return undefined;
  return readLast(conversationFile(dir, id), sinceMs).catch(() => undefined);
}
