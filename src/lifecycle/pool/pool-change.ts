import type { ProjectId } from "../../domain/ids.ts";

/** What became of a worktree that was made ahead. */
export interface PoolChange {
  readonly projectId: ProjectId;
  readonly where: string;
  /** `kept`: it is of no use any more, and it holds something that may be work. */
  readonly action: "made" | "removed" | "kept";
  /** One clause: why. */
  readonly detail: string;
}
