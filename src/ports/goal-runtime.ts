import type { GoalAction, GoalDesired, GoalObserved } from "../domain/goal.ts";
import type { SessionId } from "../domain/ids.ts";
import type { GoalProvenance } from "../domain/turn.ts";
import type { RuntimeTarget } from "./runtime.ts";

/** An order for an agent. */
export interface GoalOrder {
  readonly sessionId: SessionId;
  readonly target: RuntimeTarget;
  readonly action: GoalAction;
  readonly generation: GoalProvenance;
  /** What is wanted from now on; `null` for nothing. */
  readonly desired: GoalDesired | null;
  /**
   * To be called before the agent may be reached, once: it puts on record that it may have been. From then on the
   * order is tried within bounds.
   */
  readonly onDispatch: () => Promise<void>;
}

export type GoalAnswer =
  /** The agent follows this; `null` when it follows nothing. */
  | { readonly kind: "applied"; readonly observed: GoalObserved | null }
  /** It took the order, or may have, and did not say yet that it follows it. */
  | { readonly kind: "accepted" }
  /** It was not told, and will be when it can be. */
  | { readonly kind: "waiting"; readonly why: string }
  /** It could not be reached now. */
  | { readonly kind: "disconnected"; readonly detail: string }
  | { readonly kind: "error"; readonly code: string; readonly message: string };

/** A generation that the agent must never work for again. */
export interface GoalFenceOrder {
  readonly sessionId: SessionId;
  readonly target: RuntimeTarget | null;
  readonly generation: GoalProvenance;
  /** Told in the background: an agent that is not connected stays so. */
  readonly requireLive: boolean;
}

export type GoalFenceAnswer =
  | { readonly kind: "installed" }
  | { readonly kind: "disconnected"; readonly detail: string }
  | { readonly kind: "error"; readonly code: string; readonly message: string };

/** How an agent is given goals. Rejects for nothing that is foreseen: the answers say it. */
export interface GoalRuntime {
  /** The same order may be given again to an agent that may have had it. */
  readonly replaysAfterRestart: boolean;
  /** Of two orders the later one counts, however late the answer to the earlier one comes. */
  readonly keepsOrder: boolean;
  control(order: GoalOrder): Promise<GoalAnswer>;
  /** What the agent follows, without giving it anything. Absent when it cannot be asked. */
  readonly query?: (order: GoalOrder) => Promise<GoalAnswer>;
  /** Makes the agent refuse a generation, also one that it is told of later. Idempotent. */
  fence(order: GoalFenceOrder): Promise<GoalFenceAnswer>;
}
