import { isoTime } from "./iso-time.ts";
import {
  type GoalProvenance,
  isSettledTurn,
  type Turn,
  type TurnCheckpoint,
  type TurnOrigin,
  type TurnOutcome,
  type TurnPhase,
} from "./turn.ts";

/** A turn for readers outside, without the prompt. Keys and their order are a contract. */
export interface TurnJson {
  readonly id: string;
  /** From 1 in each session. */
  readonly sequence: number;
  readonly phase: TurnPhase;
  /** `null` until it is settled. */
  readonly outcome: TurnOutcome | null;
  readonly origin: TurnOrigin;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
  /** The message that it works on. */
  readonly messageId: string | null;
  readonly goal: GoalProvenance | null;
  readonly launchId: string;
  readonly createdAt: string;
  readonly startedAt: string | null;
  readonly updatedAt: string;
  readonly settledAt: string | null;
  /** The files at its end. */
  readonly checkpoint: CheckpointJson | null;
  /** The files at its start. */
  readonly startCheckpoint: CheckpointJson | null;
}

type CheckpointJson = Pick<TurnCheckpoint, "ref" | "commit">;

function checkpointJson(kept: TurnCheckpoint | null): CheckpointJson | null {
  return kept && { ref: kept.ref, commit: kept.commit };
}

/** Every key is present, times are ISO 8601 UTC. */
export function toTurnJson(turn: Turn): TurnJson {
  const { turnId, sequence, state, origin, error, messageId, goal, launchId, checkpoints } = turn;
  const end = isSettledTurn(turn) ? turn.state : null;
  return {
    id: turnId,
    sequence,
    phase: state.kind,
    outcome: end?.outcome ?? null,
    origin,
    errorCode: error?.code ?? null,
    errorMessage: error?.message ?? null,
    messageId,
    goal,
    launchId,
    createdAt: isoTime(turn.createdAtMs),
    startedAt: isoTime(turn.startedAtMs),
    updatedAt: isoTime(turn.updatedAtMs),
    settledAt: isoTime(end?.atMs ?? null),
    checkpoint: checkpointJson(checkpoints.end),
    startCheckpoint: checkpointJson(checkpoints.start),
  };
}
