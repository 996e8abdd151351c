import type { SessionId, TurnId } from "./ids.ts";
import type { TurnCheckpoint } from "./turn.ts";

/** Messages of the past that several sessions share; never changed once they are written. */
export interface InheritedPart {
  /** What the files begin with that hold them. */
  readonly name: string;
  readonly count: number;
  /** Of these messages, as the transcript store has it. */
  readonly digest: string;
}

/** Where a session that was forked comes from. */
export interface ForkOrigin {
  /** The session that was forked. */
  readonly parentId: SessionId;
  /** The last turn that both have. */
  readonly turnId: TurnId;
  /** The session that this turn was worked on in: the parent, or one that the parent comes from. */
  readonly turnOf: SessionId;
  /** The operation that made it. */
  readonly operationId: string;
  /** The files at the end of that turn, under a ref of this session's own. */
  readonly checkpoint: TurnCheckpoint;
  /** What was said before, in order; nothing once its transcript was pruned. */
  readonly inherits: readonly InheritedPart[];
  /** The conversation that was made for it; `null` when only the agent's hooks told. */
  readonly conversationId: string | null;
  /** What its agent's own log tells up to this position was said before; `null` when that leaves it out. */
  readonly inheritedThrough: number | null;
}
