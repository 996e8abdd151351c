import type { WorkspacePlan } from "../../ports/workspace.ts";
import type { Repository } from "./repository.ts";

const opened = new WeakMap<WorkspacePlan, Repository>();

/** Keeps what a plan was made with for who carries it out in the same process: git is asked once. */
export function planOf(repository: Repository, plan: WorkspacePlan): WorkspacePlan {
  opened.set(plan, repository);
  return plan;
}

/** The repository that this very plan was made with; `undefined` for one of another process. */
export function openedFor(plan: WorkspacePlan | null): Repository | undefined {
  return plan === null ? undefined : opened.get(plan);
}
