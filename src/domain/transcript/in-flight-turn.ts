import { type JsonValue, jsonMembers } from "../canonical-json.ts";
import { isTimeMs } from "../iso-time.ts";
import { isDigest } from "./digest.ts";

const KEEPS = ["said", "prompt", "nothing"] as const;

export type TurnKeeps = (typeof KEEPS)[number];

/** A turn that has begun and is not known to have ended. */
export interface InFlightTurn {
  /** Names this marker: only who set it may clear it. */
  readonly id: string;
  /** The turn whose messages it covers; `null` when only its beginning is known. */
  readonly turnId: string | null;
  /** Messages before the turn, and their digest. */
  readonly startCount: number;
  readonly startDigest: string;
  /**
   * What outlives a turn that was broken off. `said`: all of it, where each message was acknowledged by itself, as
   * those that an agent's hooks tell. `prompt`: its first message, the person's. `nothing`: none of it.
   */
  readonly keeps: TurnKeeps;
  readonly startedAtMs: number;
  /** Digest of the whole transcript once the turn is saved; `null` until the turn has ended. */
  readonly commitDigest: string | null;
}

/** A marker; `null` stays `null`, and anything else is `undefined`. */
export function parseInFlightTurn(value: JsonValue | undefined): InFlightTurn | null | undefined {
  if (value === null) return null;
  const { id, turnId, startCount, startDigest, startedAtMs, commitDigest, ...rest } =
    jsonMembers(value ?? null) ?? {};
  const keeps = KEEPS.find((one) => one === rest["keeps"]);
  const isWhole =
    typeof id === "string" &&
    (turnId === null || typeof turnId === "string") &&
    typeof startCount === "number" &&
    isDigest(startDigest) &&
    keeps !== undefined &&
    typeof startedAtMs === "number" &&
    isTimeMs(startedAtMs) &&
    (commitDigest === null || isDigest(commitDigest));
  return isWhole ? { id, turnId, startCount, startDigest, keeps, startedAtMs, commitDigest } : undefined;
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
 * - `partial`: what was saved of it stands.
 * - `strip`: the first `keep` messages stand, what comes after is cut.
 */
export type InFlightVerdict =
  | { readonly kind: "committed" | "nothing_saved" | "start_not_found" | "later_turns" | "partial" }
  | { readonly kind: "strip"; readonly keep: number };

/** Pure. The marker is cleared in every case; only `strip` changes the transcript. */
export function decideInFlight({ turn, digest, digestAtStart, after }: InFlightFacts): InFlightVerdict {
  if (turn.commitDigest === digest) return { kind: "committed" };
  if (digestAtStart !== turn.startDigest) return { kind: "start_not_found" };
  if (after.some(({ turnId }) => turnId !== null && turnId !== turn.turnId)) return { kind: "later_turns" };
  if (after.length > 0 && turn.keeps === "said") return { kind: "partial" };
  const kept = turn.keeps === "prompt" && after[0]?.role === "user" ? 1 : 0;
  return after.length > kept ? { kind: "strip", keep: turn.startCount + kept } : { kind: "nothing_saved" };
}
