import type { GoalState } from "../../../src/domain/goal.ts";
import type { GoalControl } from "../../../src/domain/goal-transitions.ts";
import type { Operation } from "../../../src/domain/operation.ts";
import type { Turn } from "../../../src/domain/turn.ts";
import type { GoalOptions, GoalResult } from "../../../src/lifecycle/goals/control-goal.ts";
import type { FenceResult } from "../../../src/lifecycle/goals/fence-goal.ts";
import type { FenceRequest } from "../../../src/lifecycle/goals/prepare-fence.ts";
import type { ReconcileResult } from "../../../src/lifecycle/recovery/reconcile-result.ts";
import type { GoalAnswer, GoalFenceOrder, GoalOrder } from "../../../src/ports/goal-runtime.ts";

/** What reached the agent of the session since the driver was made. */
export interface Metrics {
  readonly controls: readonly Pick<GoalOrder, "action" | "generation">[];
  readonly fences: readonly Pick<GoalFenceOrder, "generation" | "requireLive">[];
  /** Texts that were typed to it. */
  readonly typed: readonly string[];
  readonly cancels: number;
  /** Launches that a restore made, each with the generations that it was started with as revoked. */
  readonly resumes: readonly (readonly string[])[];
}

/** What a scenario can let go wrong; each stays until it is taken back with `null` or `false`. */
export interface Faults {
  /** What a fence is answered with. */
  fence(answer: "disconnected" | "error" | null): void;
  /** What an order is answered with, once it has reached the agent. */
  control(answer: (() => Promise<GoalAnswer> | GoalAnswer) | null): void;
  /** Cancellations do not get through. */
  cancel(answer: "disconnected" | null): void;
  /** Nobody can look at runtimes. */
  sight(isLost: boolean): void;
  /** Done while the next fence is installed. */
  onFence(work: (() => Promise<void> | void) | null): void;
}

/** A session at rest in a host, as scenarios use it. Every call is one of a process of its own. */
export interface GoalDriver {
  readonly faults: Faults;
  control(
    control: Partial<GoalControl> & Pick<GoalControl, "action">,
    options?: GoalOptions,
  ): Promise<GoalResult>;
  /** A `set`, of something that is over at once. */
  set(objective: string, options?: GoalOptions): Promise<GoalResult>;
  fence(request: Partial<FenceRequest>): Promise<FenceResult>;
  /** On record, and nothing more: as if the process had died right after. */
  plantSet(objective: string): Operation;
  plantFence(request: Partial<FenceRequest>): Operation;
  /** A turn of the goal that goes on until it is stopped. Its generation. */
  runTurn(): Promise<Operation>;
  recover(): Promise<readonly { readonly subject: string; readonly message: string }[]>;
  reconcile(): Promise<ReconcileResult>;
  /** The session is gone with its runtime, and nobody has looked yet. */
  lose(): Promise<void>;
  /** What a person does: `ao restore`. */
  restore(): Promise<void>;
  state(): GoalState | undefined;
  operation(id: string): Operation | undefined;
  newestTurn(): Turn | undefined;
  /** Lets the time of the next tries come. */
  wait(ms: number): Promise<void>;
  metrics(): Metrics;
}

export interface Scenario {
  readonly name: string;
  /** Needs an agent that keeps goals by itself, which no real one does yet. */
  readonly needsNative?: boolean;
  /** Lets hours pass: only where the clock is a toy. */
  readonly isLong?: boolean;
  run(driver: GoalDriver): Promise<void>;
}
