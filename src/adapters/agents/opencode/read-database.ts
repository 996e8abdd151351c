import { statSync } from "node:fs";
import type { Database as OpenDatabase } from "better-sqlite3";
import { asMembers, type Members, membersIn } from "../json-lines.ts";
import { unreadable } from "../log-files.ts";
import { isConversationId } from "./opencode-files.ts";

/** A message or a part of one, as opencode keeps it (1.18.33). */
export interface StoredRow {
  readonly id: string;
  readonly createdMs: number;
  readonly data: Members;
}

export interface StoredMessage extends StoredRow {
  readonly parts: readonly StoredRow[];
}

export interface StoredConversation {
  /** The columns of its row. */
  readonly session: Members;
  /** In the order of their ids, which is that of time. */
  readonly messages: readonly StoredMessage[];
}

/** A conversation that is being written to is waited for this long, in milliseconds. */
const BUSY_MS = 2_000;

/**
 * A conversation that began in this workspace and is no sub-agent's; `undefined` when there is none.
 *
 * @throws AoError agent_unavailable when that cannot be told.
 */
export async function readConversation(
  path: string,
  { id, workspacePath }: { readonly id: string; readonly workspacePath: string },
): Promise<StoredConversation | undefined> {
  if (!isConversationId(id)) return undefined;
  return reading(path, (db) => {
    const session = sessionOf(db, id);
    if (session?.["directory"] !== workspacePath || session["parent_id"] !== null) return undefined;
    return { session, messages: messagesOf(db, id) };
  });
}

/** Whether anything has that id. @throws AoError agent_unavailable when that cannot be told. */
export async function isKnown(path: string, id: string): Promise<boolean> {
  return (await reading(path, (db) => sessionOf(db, id) !== undefined)) ?? false;
}

/** `undefined` when there is no database. The driver is loaded here, as few commands need it. */
async function reading<Found>(path: string, read: (db: OpenDatabase) => Found): Promise<Found | undefined> {
  try {
    const { default: Database } = await import("better-sqlite3");
    const db = new Database(path, { readonly: true, fileMustExist: true, timeout: BUSY_MS });
    try {
      return read(db);
    } finally {
      db.close();
    }
  } catch (error) {
    if (isNowhere(path)) return undefined;
    throw unreadable(path, error);
  }
}

/** The driver says the same of a file that is not there and of one that it may not open. */
function isNowhere(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) === undefined;
  } catch {
    return false;
  }
}

function sessionOf(db: OpenDatabase, id: string): Members | undefined {
  return asMembers(db.prepare("SELECT * FROM session WHERE id = ?").get(id));
}

function messagesOf(db: OpenDatabase, id: string): readonly StoredMessage[] {
  const messages = db.prepare("SELECT id, time_created, data FROM message WHERE session_id = ? ORDER BY id");
  const parts = db.prepare(
    "SELECT id, time_created, data, message_id FROM part WHERE session_id = ? ORDER BY id",
  );
  const partsOf = new Map<string, StoredRow[]>();
  for (const { messageId, ...part } of parts.all(id).flatMap(partIn)) {
    partsOf.set(messageId, [...(partsOf.get(messageId) ?? []), part]);
  }
  return messages.all(id).flatMap((row) => {
    const read = rowIn(row);
    return read === undefined ? [] : [{ ...read, parts: partsOf.get(read.id) ?? [] }];
  });
}

function partIn(row: unknown): readonly (StoredRow & { readonly messageId: string })[] {
  const [read, messageId] = [rowIn(row), asMembers(row)?.["message_id"]];
  return read === undefined || typeof messageId !== "string" ? [] : [{ ...read, messageId }];
}

function rowIn(row: unknown): StoredRow | undefined {
  const { id, time_created: createdMs, data } = asMembers(row) ?? {};
  if (typeof id !== "string" || typeof createdMs !== "number" || typeof data !== "string") return undefined;
  const members = membersIn(data);
  return members === undefined ? undefined : { id, createdMs, data: members };
}
