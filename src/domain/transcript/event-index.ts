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
  /** Size of a checkpoint that holds just the transcript of this log; `null` when there is none. */
  readonly checkpointBytes: number | null;
}

const SCHEMA_VERSION = 1;

/** An index; `undefined` for anything else, that of another version included. */
export function parseEventIndex(text: string | undefined): EventIndex | undefined {
  const { schemaVersion, logBytes, lastRecordOffset, revision, digest, checkpointBytes } =
    parseMembers(text ?? "") ?? {};
  const isWhole =
    schemaVersion === SCHEMA_VERSION &&
    isCount(logBytes) &&
    isCount(lastRecordOffset) &&
    isCount(revision) &&
    isDigest(digest) &&
    (checkpointBytes === null || isCount(checkpointBytes));
  return isWhole ? { logBytes, lastRecordOffset, revision, digest, checkpointBytes } : undefined;
}

export function encodeEventIndex(index: EventIndex): string {
  const { logBytes, lastRecordOffset, revision, digest, checkpointBytes } = index;
  const members = { schemaVersion: SCHEMA_VERSION, logBytes, lastRecordOffset, revision, digest };
  return `${JSON.stringify({ ...members, checkpointBytes })}\n`;
}
