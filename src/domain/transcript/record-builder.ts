import type { TranscriptHead } from "./chain.ts";
import { extendDigest, type Sha256 } from "./digest.ts";
import { encodeRecord, type RecordType } from "./record.ts";

/** Who writes records, why, and when, and whose they are. */
export interface RecordStamp {
  readonly writer: string;
  readonly reason: string;
  readonly atMs: number;
  readonly owner: string;
}

/** What the records to be built stand on. */
export interface RecordPlan {
  /** The transcript before; its count and digest are those of the messages that are kept. */
  readonly base: TranscriptHead;
  /** Of the first record; the others append to it. */
  readonly type: RecordType;
  /** Of the first record; the others count up from it. */
  readonly revision: number;
  readonly stamp: RecordStamp;
}

/** Turns messages into the lines of as few records as are not too long. */
export interface RecordBuilder {
  /** Takes a message as canonical JSON; returns a line when one is full. */
  add(text: string): string | undefined;
  /** The last line; `undefined` when there is nothing left to say. A `replace` always says something. */
  finish(): string | undefined;
  /** The transcript after the lines that were returned. */
  head(): TranscriptHead;
}

/** Length of a record, in UTF-16 units, at which another one is begun: the last one is read by who adds to it. */
const FULL_LENGTH = 256 * 1024;

/** Whether messages fit into one record. */
export function fitOneRecord(texts: readonly string[]): boolean {
  const length = texts.slice(0, -1).reduce((sum, text) => sum + text.length, 0);
  return length < FULL_LENGTH;
}

export function recordBuilder(sha256: Sha256, plan: RecordPlan): RecordBuilder {
  let head = plan.base;
  let { type, revision } = plan;
  let texts: string[] = [];
  let length = 0;
  let digest = head.digest;

  function line(): string {
    const rewrites = head.rewrites + (type === "replace" ? 1 : 0);
    const record = {
      ...{ type, revision, digest, rewrites, ...plan.stamp },
      ...{ baseRevision: head.revision, messageIndex: head.count, baseDigest: head.digest },
    };
    const encoded = encodeRecord(sha256, record, texts);
    head = { count: head.count + texts.length, digest, revision, rewrites };
    type = "append";
    revision += 1;
    texts = [];
    length = 0;
    return encoded;
  }

  return {
    add(text) {
      texts.push(text);
      length += text.length;
      digest = extendDigest(sha256, digest, text);
      return length < FULL_LENGTH ? undefined : line();
    },
    finish: () => (texts.length > 0 || type === "replace" ? line() : undefined),
    head: () => head,
  };
}
