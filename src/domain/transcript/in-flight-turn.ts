import { type JsonValue, jsonMembers } from "../canonical-json.ts";
import { isDigest } from "./digest.ts";

/** A turn that has begun and is not known to have ended. */
export interface InFlightTurn {
  /** Names this marker: only who set it may clear it. */
  readonly id: string;
  /** The turn whose messages it covers. */
  readonly turnId: string;
  /** Messages before the turn, and their digest. */
  readonly startCount: number;
  readonly startDigest: string;
  /** Whether the first message of the turn, the person's, outlives a turn that was broken off. */
  readonly keepsPrompt: boolean;
  readonly startedAtMs: number;
  /** Digest of the whole transcript once the turn is saved; `null` until the turn has ended. */
  readonly commitDigest: string | null;
}

/** A marker; `null` stays `null`, and anything else is `undefined`. */
export function parseInFlightTurn(value: JsonValue | undefined): InFlightTurn | null | undefined {
  if (value === null) return null;
  const { id, turnId, startCount, startDigest, keepsPrompt, startedAtMs, commitDigest } =
    jsonMembers(value ?? null) ?? {};
  const isWhole =
    typeof id === "string" &&
    typeof turnId === "string" &&
    typeof startCount === "number" &&
    isDigest(startDigest) &&
    typeof keepsPrompt === "boolean" &&
    typeof startedAtMs === "number" &&
    (commitDigest === null || isDigest(commitDigest));
  return isWhole
    ? { id, turnId, startCount, startDigest, keepsPrompt, startedAtMs, commitDigest }
    : undefined;
}

/** What is on disk of a turn that was in flight when its writer died. */
export interface InFlightFacts {
  readonly turn: InFlightTurn;
  readonly digest: string;
  /** Digest of the first `turn.startCount` messages; `undefined` when there are fewer. */
  readonly digestAtStart: string | undefined;
  /** What came after them, in order: role, and the turn each belongs to. */
  readonly after: readonly { readonly role: string; readonly turnId: string | null }[];
}

/**
 * What to do with a turn that is found in flight.
 * - `committed`: it was saved whole.
 * - `nothing_saved`: none of it was saved.
 * - `start_not_found`: the transcript was rewritten below its beginning since.
 * - `later_turns`: others were saved behind it, so it is no end that could be cut.
 * - `strip`: the first `keep` messages stand, what comes after is cut.
 */
export type InFlightVerdict =
  | { readonly kind: "committed" | "nothing_saved" | "start_not_found" | "later_turns" }
  | { readonly kind: "strip"; readonly keep: number };

/** Pure. The marker is cleared in every case; only `strip` changes the transcript. */
export function decideInFlight({ turn, digest, digestAtStart, after }: InFlightFacts): InFlightVerdict {
  if (turn.commitDigest === digest) return { kind: "committed" };
  if (digestAtStart !== turn.startDigest) return { kind: "start_not_found" };
  if (after.some(({ turnId }) => turnId !== null && turnId !== turn.turnId)) return { kind: "later_turns" };
  const kept = turn.keepsPrompt && after[0]?.role === "user" ? 1 : 0;
  return after.length > kept ? { kind: "strip", keep: turn.startCount + kept } : { kind: "nothing_saved" };
}
