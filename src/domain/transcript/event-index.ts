import { type JsonValue, jsonMembers } from "../canonical-json.ts";
import { isDigest } from "./digest.ts";
import { isCount, parseMembers } from "./sidecar-json.ts";

/**
 * Spares a writer the reading of a whole log. It vouches that a log of this size was read whole or written by
 * `ao`, and is durable; losing it changes nothing.
 */
export interface EventIndex {
  readonly logBytes: number;
  /** Where the last record begins, in bytes. */
  readonly lastRecordOffset: number;
  readonly revision: number;
  readonly digest: string;
  /** Whether nothing was damaged or missing when all of it was last read. */
  readonly isWhole: boolean;
  /** The checkpoint that holds just the transcript of this log; `null` when there is none. */
  readonly checkpoint: CheckpointMark | null;
}

/** By what a checkpoint is known again without reading it. */
export interface CheckpointMark {
  readonly bytes: number;
  /** SHA-256 of its end, as lower case hexadecimal digits. */
  readonly tailDigest: string;
}

const SCHEMA_VERSION = 1;

/** An index; `undefined` for anything else, that of another version included. */
export function parseEventIndex(text: string | undefined): EventIndex | undefined {
  const { schemaVersion, logBytes, lastRecordOffset, revision, digest, isWhole, checkpoint } =
    parseMembers(text ?? "") ?? {};
  const mark = parseMark(checkpoint);
  const isIndex =
    schemaVersion === SCHEMA_VERSION &&
    isCount(logBytes) &&
    isCount(lastRecordOffset) &&
    isCount(revision) &&
    isDigest(digest) &&
    typeof isWhole === "boolean" &&
    mark !== undefined;
  return isIndex ? { logBytes, lastRecordOffset, revision, digest, isWhole, checkpoint: mark } : undefined;
}

export function encodeEventIndex(index: EventIndex): string {
  const { logBytes, lastRecordOffset, revision, digest, isWhole, checkpoint } = index;
  const members = { schemaVersion: SCHEMA_VERSION, logBytes, lastRecordOffset, revision, digest };
  return `${JSON.stringify({ ...members, isWhole, checkpoint })}\n`;
}

function parseMark(value: JsonValue | undefined): CheckpointMark | null | undefined {
  if (value === null) return null;
  const { bytes, tailDigest } = jsonMembers(value ?? null) ?? {};
  return isCount(bytes) && isDigest(tailDigest) ? { bytes, tailDigest } : undefined;
}
