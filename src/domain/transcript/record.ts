import { canonicalJson, type JsonValue, jsonMembers } from "../canonical-json.ts";
import { isTimeMs } from "../iso-time.ts";
import { digestsAfter, isDigest, type Sha256 } from "./digest.ts";
import { parseMessage, type TranscriptMessage } from "./message.ts";

const SCHEMA_VERSION = 1;

/** How the line of every record begins: schema version and type come first. */
const FIRST_BYTES = '{"schemaVersion":';

/** How a line ends: with the checksum of all of it before this end. */
const lineEnd = (sha256: Sha256, line: string): string => `,"check":"${sha256(line)}"}`;

/** More messages or revisions than this are no numbers of a transcript. */
const MAX_COUNT = 2 ** 31;

/** `append` adds messages to the end. `replace` may cut before it adds: rewind, compaction, first save. */
const RECORD_TYPES = ["replace", "append"] as const;
export type RecordType = (typeof RECORD_TYPES)[number];

/** What one line of an event log says of the transcript after it. */
export interface RecordHead {
  readonly type: RecordType;
  /** Grows from record to record; numbers may be left out. */
  readonly revision: number;
  /** Revision of the record before; anything lower than `revision` in the first one. */
  readonly baseRevision: number;
  /** How many messages of the transcript before are kept. `append` keeps all. */
  readonly messageIndex: number;
  /** Digest of those that are kept. */
  readonly baseDigest: string;
  /** Digest of the whole transcript after this record. */
  readonly digest: string;
  /** `replace` records since the transcript began, this one included. */
  readonly rewrites: number;
  /** Who wrote it. */
  readonly writer: string;
  /** Why, one word: `save`, `rewrite`, `compact`, `repair`, … */
  readonly reason: string;
  readonly atMs: number;
  /** Whose record it is: `TranscriptPaths.owner`. In the log of another it says nothing. */
  readonly owner: string;
}

/** One line of an event log: one change of a transcript, whole or not at all. */
export interface TranscriptRecord extends RecordHead {
  readonly messages: readonly TranscriptMessage[];
}

export type ParsedLine =
  | {
      readonly kind: "record";
      readonly record: TranscriptRecord;
      /** Of the transcript after 0, 1, … and all messages of the record. */
      readonly digests: readonly string[];
    }
  /** A record of an `ao` that is newer than this one. */
  | { readonly kind: "newer" }
  | { readonly kind: "unreadable" };

const UNREADABLE: ParsedLine = { kind: "unreadable" };

/**
 * The line of a record, without its line feed.
 *
 * @param texts its messages as canonical JSON.
 */
export function encodeRecord(sha256: Sha256, head: RecordHead, texts: readonly string[]): string {
  const { type, revision, baseRevision, messageIndex, baseDigest, digest, rewrites } = head;
  const { writer, reason, atMs, owner } = head;
  const members = JSON.stringify({
    schemaVersion: SCHEMA_VERSION,
    ...{
      type,
      revision,
      baseRevision,
      messageIndex,
      baseDigest,
      digest,
      rewrites,
      writer,
      reason,
      atMs,
      owner,
    },
  });
  const line = `${members.slice(0, -1)},"messages":[${texts.join(",")}]`;
  return `${line}${lineEnd(sha256, line)}`;
}

/** Reads a line and proves it: by its checksum, and its messages by the digest that they must lead to. */
export function parseRecordLine(sha256: Sha256, line: string): ParsedLine {
  const members = jsonMembers(parseJson(line) ?? null);
  if (members === undefined) return UNREADABLE;
  if (isNewer(members)) return { kind: "newer" };
  const body = line.slice(0, Math.max(0, line.lastIndexOf(',"check":"')));
  if (line !== `${body}${lineEnd(sha256, body)}` || !isRecordHead(members)) return UNREADABLE;
  const messages = parseMessages(members["messages"]);
  if (messages === undefined) return UNREADABLE;
  const digests = digestsAfter(sha256, members.baseDigest, messages.map(canonicalJson));
  return digests.at(-1) === members.digest
    ? { kind: "record", record: { ...members, messages }, digests }
    : UNREADABLE;
}

/**
 * Whether a file that holds no record can be a log of `ao` that was torn while it was first written, and not
 * somebody else's file.
 *
 * @param start its first bytes, each as one character; at least 100 when it has that many.
 */
export function mayBeTornLog(start: string): boolean {
  const text = start.replace(/^[\0\s]+/, "");
  return start.startsWith("\0") || FIRST_BYTES.startsWith(text.slice(0, FIRST_BYTES.length));
}

function parseJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

interface Members {
  readonly [name: string]: JsonValue;
}

function isNewer({ schemaVersion, type }: Members): boolean {
  const types: readonly unknown[] = RECORD_TYPES;
  if (typeof schemaVersion !== "number") return false;
  return (
    schemaVersion > SCHEMA_VERSION ||
    (schemaVersion === SCHEMA_VERSION && typeof type === "string" && !types.includes(type))
  );
}

function parseMessages(value: JsonValue | undefined): readonly TranscriptMessage[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const messages: TranscriptMessage[] = [];
  for (const item of value) {
    const message = parseMessage(item);
    if (message === undefined) return undefined;
    messages.push(message);
  }
  return messages;
}

function isRecordHead(members: Members): members is Members & RecordHead {
  const { schemaVersion, type, revision, baseRevision, messageIndex, rewrites } = members;
  const types: readonly unknown[] = RECORD_TYPES;
  return (
    schemaVersion === SCHEMA_VERSION &&
    types.includes(type) &&
    [revision, baseRevision, messageIndex, rewrites].every(isCount) &&
    Number(revision) > Number(baseRevision) &&
    isDigest(members["baseDigest"]) &&
    isDigest(members["digest"]) &&
    isSigned(members)
  );
}

function isSigned({ writer, reason, atMs, owner }: Members): boolean {
  const isTime = typeof atMs === "number" && isTimeMs(atMs);
  return isTime && [writer, reason, owner].every((text) => typeof text === "string");
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= MAX_COUNT;
}
