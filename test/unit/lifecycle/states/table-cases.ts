import { chmodSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import type { FindingKind, SkipReason } from "../../../../src/domain/workspace-finding.ts";
import { gitExit, gitIn, gitRepository, writeIn } from "../../../support/git-repository.ts";
import { becomeUnprivileged } from "../../../support/unprivileged.ts";
import { stateRepository } from "../../../support/worktree-states/projects.ts";
import type { WorktreeState } from "../../../support/worktree-states/state.ts";
import { bringAbout } from "../../../support/worktree-states.ts";
import { addFiles } from "../../adapters/worktree/salvage/salvage-world.ts";
import { STATES as SALVAGE_STATES } from "../../adapters/worktree/salvage/worktree-states.ts";
import type { StateCase } from "./table-run.ts";

/** A salvage cannot hold them: they are no files of the worktree, or nobody can read them. */
const STAYING: ReadonlySet<FindingKind> = new Set(["missing", "submodule", "locked", "in_use", "unreadable"]);

function reasonToStay({ finds, reason, stays }: WorktreeState): SkipReason | null {
  if (reason === "unsafe_path" || finds.some((kind) => STAYING.has(kind))) return reason;
  return stays ?? null;
}

/** Some states, each behind its name, for `test.each`. */
export function casesOf(
  states: readonly WorktreeState[],
  isWanted: (index: number, state: WorktreeState) => boolean = () => true,
): readonly (readonly [name: string, state: StateCase])[] {
  return states.filter((state, index) => isWanted(index, state)).map((state) => [state.name, caseOf(state)]);
}

/** The states whose salvage is tried on its own as well, each of which is something to keep. */
export function salvageCases(): readonly (readonly [name: string, state: StateCase])[] {
  return SALVAGE_STATES.map(({ name, lost, build, ...state }) => {
    const make: StateCase["make"] = async (world) => {
      const repository = state.repository?.() ?? gitRepository();
      addFiles(repository);
      const session = await world.spawn(repository, { branch: "feat/1" });
      const { path } = session;
      build({
        ...{ repository, path },
        git: (...args) => gitIn(path, ...args),
        tryGit: (...args) => gitExit(path, ...args),
        write: (file, content) => writeIn(path, file, content),
      });
      return session;
    };
    return [name, { name, lost, make, finds: null, reasonToStay: null }];
  });
}

/** To the end of the test nobody opens it. */
function close(path: string): void {
  const { mode } = statSync(path);
  chmodSync(path, 0);
  onTestFinished(() => chmodSync(path, mode));
}

/** A state of the table of states, in a repository of its own. */
function caseOf(state: WorktreeState): StateCase {
  const { name, project, prepare, postCreate, ignored, reason, lost, isHidden, isBranchless } = state;
  const { ownDisk, closed = [], isForeign = false, warnings } = state;
  return {
    ...{
      name,
      reason,
      lost,
      isHidden,
      isBranchless,
      reasonToStay: reasonToStay(state),
      ownDisk,
      closed,
      warnings,
    },
    finds: reason === "unsafe_path" ? null : state.finds,
    async make(world) {
      const repository = stateRepository(project);
      prepare?.(repository);
      if (closed.length > 0) becomeUnprivileged([dirname(repository.path), world.deps.dataDir]);
      const options = { ...(postCreate && { postCreate }), ...(ignored && { ignored }) };
      const session = await world.spawn(repository, options);
      await bringAbout(state, repository, session.path);
      for (const path of closed) close(join(session.path, path));
      if (isForeign) world.estrange(repository);
      return session;
    },
  };
}
