import {
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { hasErrorCode } from "../../../../domain/error-code.ts";
import { AoError } from "../../../../domain/errors.ts";
import { conversationFile } from "../conversation-path.ts";
import type { RecordPlace } from "../hook-body.ts";
import {
  type ConversationMemory,
  type ConversationRecord,
  inheritableLines,
  type LastPlace,
  placeAfter,
  readLastPlace,
  readMemory,
  remember,
} from "./conversation-record.ts";
import { lineAppender } from "./line-appender.ts";

/** An open conversation, kept in one file that only grows. */
export interface Conversation {
  readonly id: string;
  memory(): ConversationMemory;
  /** Adds a record and says where; it is on the disk when this returns. */
  append(record: ConversationRecord): RecordPlace;
}

/** Names the conversations' folder and the one to open in it. */
export interface ConversationPlace {
  readonly dir: string;
  readonly id: string;
}

function recordLine(record: ConversationRecord, { position, after, atMs }: RecordPlace): string {
  return JSON.stringify({ ...record, position, after, atMs });
}

function inUse(id: string, cause: unknown): AoError {
  return new AoError("request_conflict", `conversation ${id} is already in use`, { cause });
}

function writeDurably(fd: number, content: string): void {
  writeFileSync(fd, content);
  fsyncSync(fd);
}

function syncFolder(dir: string): void {
  const fd = openSync(dir, "r");
  fsyncSync(fd);
  closeSync(fd);
}

function readConversation({ dir, id }: ConversationPlace): string {
  try {
    return readFileSync(conversationFile(dir, id), "utf8");
  } catch (error) {
    if (!hasErrorCode(error, "ENOENT")) throw error;
    throw new AoError("agent_session_unknown", `no conversation with id ${id}`, { cause: error });
  }
}

function openConversation(fd: number, id: string, content: string): Conversation {
  let memory = readMemory(content);
  let last: LastPlace = readLastPlace(content);
  const isTorn = content !== "" && !content.endsWith("\n");
  const appendLine = lineAppender((text) => writeDurably(fd, text), isTorn);
  return {
    id,
    memory: () => memory,
    append: (record) => {
      const place = placeAfter(last, Date.now());
      // A record that failed may be on the disk all the same: its position is not given again.
      last = { ...last, position: place.position };
      appendLine(recordLine(record, place));
      if (record.kind !== "conversation") last = { ...last, said: place.position };
      memory = remember(memory, record);
      return place;
    },
  };
}

/**
 * Begins a conversation.
 *
 * @throws AoError request_conflict when its id is taken.
 */
export function createConversation({ dir, id }: ConversationPlace): Conversation {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  try {
    const fd = openSync(conversationFile(dir, id), "ax", 0o600);
    const conversation = openConversation(fd, id, "");
    conversation.append({ kind: "conversation", id, parentId: null });
    syncFolder(dir);
    return conversation;
  } catch (error) {
    throw hasErrorCode(error, "EEXIST") ? inUse(id, error) : error;
  }
}

/**
 * Takes a conversation up again.
 *
 * @throws AoError agent_session_unknown when there is none with that id.
 */
export function resumeConversation(place: ConversationPlace): Conversation {
  const content = readConversation(place);
  return openConversation(openSync(conversationFile(place.dir, place.id), "a"), place.id, content);
}

/**
 * Begins a conversation that remembers all of another one, whose file is only read.
 *
 * It appears whole or not at all.
 *
 * @throws AoError agent_session_unknown when there is no parent with that id.
 * @throws AoError request_conflict when the new id is taken.
 */
export function forkConversation(parent: ConversationPlace, id: string): Conversation {
  const content = readConversation(parent);
  const inherited = inheritableLines(content);
  const place = { ...placeAfter(readLastPlace(content), Date.now()), after: null };
  const header = recordLine({ kind: "conversation", id, parentId: parent.id }, place);
  const partial = `${conversationFile(parent.dir, id)}.${process.pid}.partial`;
  const fd = openSync(partial, "w", 0o600);
  try {
    writeDurably(fd, [header, ...inherited].map((line) => `${line}\n`).join(""));
    linkSync(partial, conversationFile(parent.dir, id));
  } catch (error) {
    throw hasErrorCode(error, "EEXIST") ? inUse(id, error) : error;
  } finally {
    closeSync(fd);
    rmSync(partial, { force: true });
  }
  syncFolder(parent.dir);
  return resumeConversation({ dir: parent.dir, id });
}
