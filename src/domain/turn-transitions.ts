import { AoError } from "./errors.ts";
import {
  isSettledTurn,
  type Turn,
  type TurnBirth,
  type TurnError,
  type TurnKey,
  type TurnOutcome,
  type TurnPhase,
  type TurnState,
} from "./turn.ts";

/** One event in the life of a turn, wherever it was heard. */
export interface TurnTransition extends TurnKey {
  readonly phase: TurnPhase;
  /** Of a settled turn; `completed` when absent. Dropped of any other phase. */
  readonly outcome?: TurnOutcome;
  /** The latest one stays; one that is absent takes none away. */
  readonly error?: TurnError | null;
  /** Unix milliseconds. */
  readonly occurredAtMs: number;
  /** What a turn that begins with this event is; a turn that is there keeps its own. */
  readonly birth: TurnBirth;
}

/** What is stored when a transition comes. */
export interface TurnSlot {
  /** The turn of that id. */
  readonly stored: Turn | undefined;
  /** The turn of the session that is not settled, whichever it is. */
  readonly live: Turn | undefined;
  /** The sequence number of the session's newest turn; 0 while it has none. */
  readonly lastSequence: number;
}

export type TurnDecision =
  /** The turn as it is from now on, its version one more; a new one has version 1. */
  | { readonly kind: "accepted"; readonly turn: Turn }
  /** Late or older than what is stored: that stays, and it is no error. */
  | { readonly kind: "rejected"; readonly turn: Turn }
  /** Another turn of the session is not settled. Nothing of what was reported with this may count. */
  | { readonly kind: "conflict"; readonly live: Turn };

/** Which phases may follow one; the same phase again is no regression. Only waiting goes back, to running. */
const NEXT: { readonly [Phase in TurnPhase]: readonly TurnPhase[] } = {
  submitted: ["submitted", "running", "waiting", "settling", "settled"],
  running: ["running", "waiting", "settling", "settled"],
  waiting: ["running", "waiting", "settling", "settled"],
  settling: ["settling", "settled"],
  settled: [],
};

/** Decides what an event makes of a turn. Pure and total. */
export function decideTurnTransition(slot: TurnSlot, transition: TurnTransition): TurnDecision {
  const { stored, live, lastSequence } = slot;
  if (stored !== undefined && isTooLate(stored, transition)) return { kind: "rejected", turn: stored };
  const isOthers = live !== undefined && live.turnId !== transition.turnId;
  if (isOthers && transition.phase !== "settled") return { kind: "conflict", live };
  const before = stored ?? newTurn(transition, lastSequence + 1);
  return { kind: "accepted", turn: after(before, transition) };
}

function isTooLate(stored: Turn, { phase, occurredAtMs }: TurnTransition): boolean {
  return !NEXT[stored.state.kind].includes(phase) || occurredAtMs < stored.updatedAtMs;
}

/** A turn before its first event: what that makes of it is version 1. */
function newTurn(transition: TurnTransition, sequence: number): Turn {
  const { projectId, sessionId, turnId, birth, occurredAtMs } = transition;
  const { launchId, origin, goal, messageId } = birth;
  return {
    ...{ projectId, sessionId, turnId, sequence, launchId, origin, goal, messageId },
    state: { kind: "submitted" },
    error: null,
    checkpoints: { start: null, end: null },
    ...{ createdAtMs: occurredAtMs, startedAtMs: null, updatedAtMs: occurredAtMs },
    version: 0,
  };
}

function after(turn: Turn, transition: TurnTransition): Turn {
  const { occurredAtMs } = transition;
  const changed: Turn = {
    ...turn,
    state: stateAfter(transition),
    error: transition.error ?? turn.error,
    startedAtMs: turn.startedAtMs ?? startedBy(transition),
    updatedAtMs: occurredAtMs,
    version: turn.version + 1,
  };
  // A failure that was told on the way does not decorate what a person stopped.
  const isCanceled = isSettledTurn(changed) && changed.state.outcome === "canceled";
  return isCanceled ? { ...changed, error: null } : changed;
}

function stateAfter({ phase, outcome, occurredAtMs }: TurnTransition): TurnState {
  if (phase !== "settled") return { kind: phase };
  return { kind: "settled", outcome: outcome ?? "completed", atMs: occurredAtMs };
}

/** That a turn was submitted, or ended, does not tell that its agent worked on it. */
function startedBy({ phase, occurredAtMs }: TurnTransition): number | null {
  return phase === "submitted" || phase === "settled" ? null : occurredAtMs;
}

/** The error for a turn that would go on beside another one. */
export function turnConflict({ sessionId, turnId }: TurnKey, live: Turn): AoError {
  return new AoError("busy", `turn ${turnId} of ${sessionId} cannot begin: turn ${live.turnId} goes on`, {
    hint: `ao turns ${sessionId}`,
    details: { sessionId, turnId, liveTurnId: live.turnId },
  });
}
