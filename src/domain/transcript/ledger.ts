import { type JsonValue, jsonMembers } from "../canonical-json.ts";
import { EMPTY_DIGEST, isDigest } from "./digest.ts";
import { type InFlightTurn, parseInFlightTurn } from "./in-flight-turn.ts";
import { isBlank, isCount, parseMembers } from "./sidecar-json.ts";

/** The first messages of a transcript, or all of them: how many, and their digest. */
export interface TranscriptPrefix {
  readonly count: number;
  readonly digest: string;
}

export const NO_MESSAGES: TranscriptPrefix = { count: 0, digest: EMPTY_DIGEST };

/** What a writer last saw or made durable: how a save proves what it stands on. */
export interface TranscriptBase extends TranscriptPrefix {
  readonly revision: number;
}

/** What is known beside the log. Evidence, never content. */
export interface TranscriptLedger {
  /** The highest that was ever given to a save, also to one that came to nothing. */
  readonly revision: number;
  /** The last save that reached the ledger; `null` before the first. */
  readonly committed: TranscriptBase | null;
  readonly writer: string | null;
  readonly inFlight: InFlightTurn | null;
}

export const EMPTY_LEDGER: TranscriptLedger = { revision: 0, committed: null, writer: null, inFlight: null };

const SCHEMA_VERSION = 1;

export type ParsedLedger =
  | { readonly kind: "ledger"; readonly ledger: TranscriptLedger }
  /** Not there, empty, or nothing but NUL: a power cut leaves such files behind. */
  | { readonly kind: "absent" }
  | { readonly kind: "newer" }
  /** The ledger of another transcript. */
  | { readonly kind: "foreign" }
  | { readonly kind: "unreadable" };

/**
 * @param text `undefined` when there is no such file.
 * @param owner whose it has to be: `TranscriptPaths.owner`.
 */
export function parseLedger(text: string | undefined, owner: string): ParsedLedger {
  if (text === undefined || isBlank(text)) return { kind: "absent" };
  const members = parseMembers(text);
  if (members === undefined) return { kind: "unreadable" };
  const { schemaVersion, revision, writer } = members;
  if (typeof schemaVersion === "number" && schemaVersion > SCHEMA_VERSION) return { kind: "newer" };
  const committed = parseBase(members["committed"]);
  const inFlight = parseInFlightTurn(members["inFlight"]);
  const isWhole =
    schemaVersion === SCHEMA_VERSION &&
    isCount(revision) &&
    (writer === null || typeof writer === "string") &&
    committed !== undefined &&
    inFlight !== undefined &&
    typeof members["owner"] === "string";
  if (!isWhole) return { kind: "unreadable" };
  if (members["owner"] !== owner) return { kind: "foreign" };
  return { kind: "ledger", ledger: { revision, writer, committed, inFlight } };
}

export function encodeLedger(
  { revision, committed, writer, inFlight }: TranscriptLedger,
  owner: string,
): string {
  return `${JSON.stringify({ schemaVersion: SCHEMA_VERSION, owner, revision, committed, writer, inFlight })}\n`;
}

/** A base; `null` stays `null`, and anything else is `undefined`. */
function parseBase(value: JsonValue | undefined): TranscriptBase | null | undefined {
  if (value === null) return null;
  const { count, digest, revision } = jsonMembers(value ?? null) ?? {};
  return isCount(count) && isCount(revision) && isDigest(digest) ? { count, digest, revision } : undefined;
}
