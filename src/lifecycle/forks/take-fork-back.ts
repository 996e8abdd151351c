import { checkpointRef } from "../../domain/checkpoint.ts";
import { isAoError } from "../../domain/errors.ts";
import type { IsKept } from "../../ports/workspace.ts";
import type { SessionDeps } from "../deps.ts";
import type { UndoStep } from "../undo.ts";
import { discardWorkspace, undoLaunch, undoRuntime, undoWorkspace } from "../undo-steps.ts";
import { type ForkProgress, forkLaunch } from "./fork-progress.ts";
import { dropOwnSalvages, type WithWorkspace } from "./fork-workspace.ts";
import { releaseParts } from "./inherited-parts.ts";

/**
 * How everything that a fork has made is taken back, but for the conversation of its agent, which is never `ao`'s to
 * delete. What somebody worked in the worktree since stays, and is named.
 *
 * @throws AoError runtime_unavailable when it could not look whether its agent runs.
 */
export async function forkStepsLeft(deps: SessionDeps, progress: ForkProgress): Promise<readonly UndoStep[]> {
  const launch = forkLaunch(progress);
  const found = await deps.runtime.find(launch.sessionId, launch.launchId);
  return [
    releasing(deps, progress),
    unpinning(deps, progress),
    ...workspaceSteps(deps, progress),
    undoLaunch(deps, launch),
    ...(found === undefined ? [] : [undoRuntime(deps, found)]),
  ];
}

function releasing(deps: SessionDeps, { frozen }: ForkProgress): UndoStep {
  const { id, projectId } = frozen.seed;
  return {
    ...{ what: "transcript", where: frozen.inherits.at(-1)?.name ?? "" },
    run: () => releaseParts(deps, projectId, { parts: frozen.inherits, except: id }),
  };
}

function unpinning({ snapshots }: SessionDeps, { ref, frozen }: ForkProgress): UndoStep {
  const { turnId } = frozen;
  return {
    what: "checkpoint",
    where: checkpointRef(ref.sessionId, turnId, "end"),
    run: () => snapshots.forget(ref, turnId, "end"),
  };
}

function workspaceSteps(deps: SessionDeps, progress: ForkProgress): readonly UndoStep[] {
  const { ref, plan, created } = progress;
  if (created !== null) return [undoFilled(deps, { ...progress, created })];
  return plan === null ? [] : [discardWorkspace(deps, ref, plan)];
}

/** The checkpoint has its files: while there is nothing else in it, there is nothing to lose. */
function undoFilled(deps: SessionDeps, progress: WithWorkspace): UndoStep {
  const { ref, created } = progress;
  let isKept: IsKept | undefined;
  const step = undoWorkspace(deps, ref, { created, isKept: async () => (await isKept?.()) === true });
  return {
    ...step,
    async run(cause) {
      try {
        isKept = await keptByCheckpoint(deps, progress);
        await step.run(cause);
      } finally {
        await dropOwnSalvages(deps, progress);
      }
    },
  };
}

/** Nobody can tell then whether there is anything else in it. */
const UNSEEN = ["workspace_dirty", "busy", "checkpoint_not_found"] as const;

/** Asks in the last moment whether a worktree is what it was when it was seen to be the checkpoint's. */
async function keptByCheckpoint(deps: SessionDeps, progress: WithWorkspace): Promise<IsKept | undefined> {
  const { snapshots, clock } = deps;
  const { ref, created, frozen } = progress;
  const workspace = { ...ref, path: created.path };
  try {
    const since = frozen.checkpoint.commit;
    const changes = await snapshots.changes(ref.repositoryPath, { since, now: { workspace } });
    if (changes === null || changes.length > 0) return undefined;
    const kept = await snapshots.salvage({ workspace, reason: "rewind", atMs: clock.nowMs() });
    if (kept.kind === "nothing") return async () => true;
    const { files } = await snapshots.show(ref.repositoryPath, kept.ref);
    if (files.some(({ kind }) => kind === "ignored")) return undefined;
    return () => snapshots.holds({ workspace, ref: kept.ref });
  } catch (error) {
    if (UNSEEN.some((code) => isAoError(error, code))) return undefined;
    throw error;
  }
}
