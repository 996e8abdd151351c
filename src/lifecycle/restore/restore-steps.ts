import { jsonMembers, toJson } from "../../domain/canonical-json.ts";
import { AoError } from "../../domain/errors.ts";
import { isTerminal } from "../../domain/lifecycle.ts";
import type { LeasedOperation } from "../../domain/operation.ts";
import type { SessionRecord } from "../../domain/session.ts";
import type { MarkedRuntime, StartedRuntime } from "../../ports/runtime.ts";
import type { SessionDeps } from "../deps.ts";
import { restoreFences } from "../goals/restore-fences.ts";
import { lifecycleManager } from "../lifecycle-manager.ts";
import { acceptLaunchPrompt } from "../messages/accept-launch-prompt.ts";
import { crossing } from "../operations/crossing.ts";
import { operationLedger } from "../operations/ledger.ts";
import { failUndone, takeBackLeft } from "../recovery/take-back-left.ts";
import { heldBy } from "../salvage/keep-and-free.ts";
import { startedBy } from "../spawn/spawn-steps.ts";
import type { UndoStep } from "../undo.ts";
import { discardWorkspace, undoLaunch, undoRuntime, undoWorkspace } from "../undo-steps.ts";
import { parseRestoreProgress, type RestoredProgress, type RestoreProgress } from "./restore-progress.ts";
import type { RestoreResult } from "./restore-result.ts";

interface Restored {
  readonly progress: RestoredProgress;
  readonly started: StartedRuntime;
}

const NEVER_BEGAN = "its conversation never had a prompt, so a new one was begun with the recorded prompt";

/**
 * The last step of a restore: the row is open again, and its start complete, when the operation is.
 *
 * @returns what its caller is told, and everyone who repeats the request.
 */
export async function completeRestored(
  deps: SessionDeps,
  held: LeasedOperation,
  { progress, started }: Restored,
): Promise<RestoreResult> {
  const { ref, launchId, agentSessionId, agentHome, created, opening } = progress;
  const patch = {
    ...{ launchId, launchedAtMs: held.createdAtMs, agentSessionId, branch: created.branch },
    ...{ workspacePath: created.path, agentHome: agentHome ?? null },
    runtime: started.handle,
    process: started.process,
  };
  let restored: SessionRecord | undefined;
  const told = toldOf(held, progress);
  const result = toJson({ launchId, ...told });
  await crossing(deps, "restore.complete", () =>
    operationLedger(deps).complete(held, result, (store) => {
      const manager = lifecycleManager({ ...deps, store });
      manager.onRestoreInitiated(ref.sessionId, patch);
      restored = manager.onSpawnCompleted(ref.sessionId, started);
      if (told.fresh) acceptLaunchPrompt(deps, restored, { sinceMs: held.createdAtMs, opening });
    }),
  );
  if (restored !== undefined) return { record: restored, ...told };
  throw new AoError("internal", `session ${ref.sessionId} was not opened`);
}

function toldOf(
  held: LeasedOperation,
  { putBack, begins, created }: RestoredProgress,
): Omit<RestoreResult, "record"> {
  const warnings = [...(begins === true ? [NEVER_BEGAN] : []), ...created.warnings];
  return { fresh: begins === true || isFresh(held), salvageRef: putBack ?? null, warnings };
}

/** One that takes its conversation up again is not prompted. */
function isFresh({ input }: LeasedOperation): boolean {
  return jsonMembers(input)?.["fresh"] === true;
}

/**
 * Carries on a restore that its process left: to its end when the agent runs, else back.
 *
 * @throws AoError when it could not be looked at or taken back now; it may be tried again then.
 */
export async function recoverRestore(deps: SessionDeps, held: LeasedOperation): Promise<void> {
  const progress = parseRestoreProgress(held);
  if (progress === null) return failUndone(deps, held, []);
  const { ref, launchId, created, undoing } = progress;
  const found = await deps.runtime.find(ref.sessionId, launchId);
  const row = deps.store.get(ref.sessionId);
  const mayFinish = undoing !== true && row !== undefined && isTerminal(row.lifecycle);
  const started = mayFinish ? startedBy(found) : null;
  if (started === null || created === null) {
    return takeBackLeft(deps, held, stepsLeft(deps, progress, found));
  }
  const { record } = await completeRestored(deps, held, { progress: { ...progress, created }, started });
  await restoreFences(deps, record);
}

/** Once a runtime was up the worktree is not touched any more: an agent may have worked in it. */
function stepsLeft(
  deps: SessionDeps,
  progress: RestoreProgress,
  found: MarkedRuntime | undefined,
): readonly UndoStep[] {
  const { ref, launchId } = progress;
  const launch = undoLaunch(deps, { sessionId: ref.sessionId, launchId });
  return found === undefined
    ? [...workspaceSteps(deps, progress), launch]
    : [launch, undoRuntime(deps, found)];
}

function workspaceSteps(deps: SessionDeps, { ref, plan, created }: RestoreProgress): readonly UndoStep[] {
  if (plan === null) return [];
  if (created === null) return [discardWorkspace(deps, ref, plan)];
  const salvageRef = deps.store.get(ref.sessionId)?.metadata.salvageRef ?? null;
  return [undoWorkspace(deps, ref, { created, isKept: heldBy(deps, ref, salvageRef) })];
}
