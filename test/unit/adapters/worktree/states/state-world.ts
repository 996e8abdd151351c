import { systemProcessTable } from "../../../../../src/adapters/processes/system-process-table.ts";
import { NO_IGNORED_RULE } from "../../../../../src/domain/ignored-rule.ts";
import { stateRepository } from "../../../../support/worktree-states/projects.ts";
import type { WorktreeState } from "../../../../support/worktree-states/state.ts";
import { bringAbout } from "../../../../support/worktree-states.ts";
import { worktreeWorld } from "../worktree-world.ts";

/** A session's worktree in this state, on this machine's processes. */
export async function inState(state: WorktreeState) {
  const { project, prepare, postCreate = {}, ignored = NO_IGNORED_RULE } = state;
  const repository = stateRepository(project);
  prepare?.(repository);
  const options = { processes: systemProcessTable(), ignoredRule: async () => ignored };
  const { workspace, spec } = worktreeWorld(repository, options);
  const ref = spec({ postCreate });
  const { path } = await workspace.create(ref);
  await bringAbout(state, repository, path);
  return { workspace, ref, path, repository };
}
