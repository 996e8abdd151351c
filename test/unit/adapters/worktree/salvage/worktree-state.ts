import type { SalvageWorld } from "./salvage-world.ts";

/** A state that a worktree can be in, built with real git. */
export interface WorktreeState {
  readonly name: string;
  /** Makes the world; the usual one when absent. */
  readonly world?: () => SalvageWorld;
  /** Brings it into the state. */
  build(world: SalvageWorld): void;
  /** Ignored paths that are to be kept. */
  readonly ignored?: readonly string[];
  /** Ignored paths that are not. */
  readonly lost?: readonly string[];
}
