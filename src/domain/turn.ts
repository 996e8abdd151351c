import type { LaunchId, MessageId, ProjectId, SessionId, TurnId } from "./ids.ts";

/** Phases of a turn, in the order it goes through them. Names are a contract (cli.md). */
export const TURN_PHASES = ["submitted", "running", "waiting", "settling", "settled"] as const;
export type TurnPhase = (typeof TURN_PHASES)[number];

/** How a settled turn ended. */
export const TURN_OUTCOMES = ["completed", "failed", "canceled", "interrupted"] as const;
export type TurnOutcome = (typeof TURN_OUTCOMES)[number];

/** What made a turn begin. */
export const TURN_ORIGINS = [
  "user_prompt",
  "goal_arm",
  "goal_continuation",
  "agent_initiated",
  "unknown",
] as const;
export type TurnOrigin = (typeof TURN_ORIGINS)[number];

/** The generation of a goal that a turn works for. */
export interface GoalProvenance {
  readonly operationId: string;
  readonly revision: number;
  readonly repairEpoch: number;
}

/** What went wrong in a turn, as its agent or `ao` tells it. */
export interface TurnError {
  /** For example `execution_status_unknown`: an open list. */
  readonly code: string;
  readonly message: string;
}

/** The files of a workspace at one end of a turn. */
export interface TurnCheckpoint {
  /** The ref that keeps the commit. */
  readonly ref: string;
  readonly commit: string;
  /** When they were kept, Unix milliseconds; absent where nobody said. */
  readonly takenAtMs?: number;
}

export type TurnEdge = "start" | "end";

export interface LiveTurnState {
  readonly kind: Exclude<TurnPhase, "settled">;
}

export interface SettledTurnState {
  readonly kind: "settled";
  readonly outcome: TurnOutcome;
  readonly atMs: number;
}

export type TurnState = LiveTurnState | SettledTurnState;

/** Names a turn: its own id is unique within its session. */
export interface TurnKey {
  readonly projectId: ProjectId;
  readonly sessionId: SessionId;
  readonly turnId: TurnId;
}

/** What a turn is from its first moment on; nothing of it ever changes. */
export interface TurnBirth {
  readonly launchId: LaunchId;
  readonly origin: TurnOrigin;
  readonly goal: GoalProvenance | null;
  /** The message that it works on; `null` when nobody sent one through `ao`. */
  readonly messageId: MessageId | null;
}

/** One prompt and all that follows until the agent rests. A session has at most one that is not settled. */
export interface Turn<State extends TurnState = TurnState> extends TurnKey, TurnBirth {
  /** From 1 in each session, one more with each turn. */
  readonly sequence: number;
  readonly state: State;
  readonly error: TurnError | null;
  readonly checkpoints: { readonly [Edge in TurnEdge]: TurnCheckpoint | null };
  /** When it was first told of, Unix milliseconds. */
  readonly createdAtMs: number;
  /** When its agent is first known to have worked on it; `null` while that is not known. */
  readonly startedAtMs: number | null;
  /** The time of the latest event that counted. What is older does not count any more. */
  readonly updatedAtMs: number;
  /** From 1, and grows by one on every change. */
  readonly version: number;
}

export type LiveTurn = Turn<LiveTurnState>;
export type SettledTurn = Turn<SettledTurnState>;

/** Whether a turn goes on. */
export function isLiveTurn(turn: Turn): turn is LiveTurn {
  return turn.state.kind !== "settled";
}

/** Whether a turn is over. */
export function isSettledTurn(turn: Turn): turn is SettledTurn {
  return turn.state.kind === "settled";
}
