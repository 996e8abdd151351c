import type { TestRepository } from "../../../../support/git-repository.ts";
import type { SalvageWorld } from "./salvage-world.ts";

/** What a state is built with. */
export type StatePlace = Pick<SalvageWorld, "repository" | "path" | "git" | "tryGit" | "write">;

/** A state that a worktree can be in, built with real git. */
export interface WorktreeState {
  readonly name: string;
  /** Makes the repository; a plain one when absent. */
  readonly repository?: () => TestRepository;
  /** The branch that is checked out in the end, where it is not that of the session. */
  readonly endsOn?: string;
  /** Brings it into the state. */
  build(world: StatePlace): void;
  /** Ignored paths that are to be kept. */
  readonly ignored?: readonly string[];
  /** Ignored paths that are not. */
  readonly lost?: readonly string[];
}
