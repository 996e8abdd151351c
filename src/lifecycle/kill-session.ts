import type { KillReason } from "../domain/apply-requests.ts";
import { dataLayout } from "../domain/data-layout.ts";
import { AoError, isAoError } from "../domain/errors.ts";
import type { SessionId } from "../domain/ids.ts";
import { isTerminal } from "../domain/lifecycle.ts";
import type { SessionRecord } from "../domain/session.ts";
import type { OnStep, SessionDeps } from "./deps.ts";
import { lookFailures } from "./gather-facts.ts";
import { type LifecycleDeps, lifecycleManager } from "./lifecycle-manager.ts";
import { requireSight } from "./live-target.ts";
import { requireSession, runtimeTarget, sessionNotFound, workspaceRef } from "./session-refs.ts";
import { describeRefusal, findingsIn, isRefusal } from "./workspace-refusal.ts";

export interface KillOptions {
  readonly reason: KillReason;
  readonly note: string | null;
  readonly keepWorktree: boolean;
  /** The session that the command runs in (`AO_SESSION_ID`); `null` outside of one. */
  readonly callerSessionId: SessionId | null;
  readonly onStep?: OnStep;
}

export interface KillResult {
  readonly id: SessionId;
  /** There is no worktree of this session any more. */
  readonly workspaceFreed: boolean;
  readonly alreadyTerminated: boolean;
  readonly salvageRef: null;
  /** Where the worktree still is; `null` when it was freed. */
  readonly workspacePath: string | null;
}

type KillDeps = LifecycleDeps & Pick<SessionDeps, "runtime" | "workspace" | "files" | "dataDir">;

/**
 * Ends a session: the intent is recorded, the agent ended, then the worktree freed when nothing in it
 * would be lost. Killing a terminated session finishes what an earlier kill left.
 *
 * @throws AoError session_not_found, inside_session
 * @throws AoError not_running when no runtime was ever recorded; nothing was changed.
 * @throws AoError workspace_dirty, workspace_unsafe_path when the worktree is refused; the session is
 *   terminated, the worktree untouched, `details` is the result with `findings`. Not for a session that was
 *   terminated before.
 * @throws AoError runtime_unavailable when the agent could not be looked at; nothing was changed, unless it
 *   went out of sight half-way.
 * @throws AoError teardown_incomplete when the agent could not be ended; the worktree is untouched.
 */
export async function killSession(deps: KillDeps, id: SessionId, options: KillOptions): Promise<KillResult> {
  const found = requireSession(deps, id);
  refuseFromInside(id, options.callerSessionId);
  if (isFree(found)) return resultOf(found, { workspaceFreed: true, alreadyTerminated: true });
  refuseWithoutHandles(found);
  if (!isTerminal(found.lifecycle)) await refuseUnseen(deps, found);

  const requested = lifecycleManager(deps).onKillRequested(id, options.reason, options.note);
  if (requested === undefined) throw sessionNotFound(id);
  const { record, changed } = requested;
  options.onStep?.("ending agent");
  const target = runtimeTarget(record);
  if (target !== undefined) await deps.runtime.destroy(target);

  if (!options.keepWorktree) options.onStep?.("freeing worktree");
  const refusal = options.keepWorktree ? null : await freeWorkspace(deps, record);
  await deps.files.removeTree(dataLayout(deps.dataDir).launchDir(id));
  const workspaceFreed = !options.keepWorktree && refusal === null;
  const result = resultOf(record, { workspaceFreed, alreadyTerminated: !changed });
  if (refusal !== null && changed) throw refusedError(refusal, result);
  return result;
}

function refuseFromInside(id: SessionId, callerSessionId: SessionId | null): void {
  if (id !== callerSessionId) return;
  throw new AoError("inside_session", `session ${id} cannot end itself`, {
    hint: `run it from outside: ao kill ${id}`,
  });
}

function isFree({ lifecycle, metadata }: SessionRecord): boolean {
  return isTerminal(lifecycle) && metadata.workspaceFreedAtMs !== null;
}

/** A terminated session may lack them: its start failed. There is less to do then, not more. */
function refuseWithoutHandles({ id, lifecycle, metadata }: SessionRecord): void {
  const isComplete = metadata.runtime !== null && metadata.workspacePath !== "";
  if (isComplete || isTerminal(lifecycle)) return;
  const what = metadata.runtime === null ? "runtime" : "worktree";
  throw new AoError("not_running", `session ${id} has no ${what} recorded`, { hint: "ao doctor" });
}

/** An end that could not be carried out must not be on record: the session would look over and run. */
async function refuseUnseen({ runtime }: KillDeps, record: SessionRecord): Promise<void> {
  const target = runtimeTarget(record);
  if (target !== undefined) requireSight(lookFailures({ seen: await runtime.look([target]) }));
}

/** Returns the refusal of a worktree that has to stay, `null` when it is gone. */
async function freeWorkspace(deps: KillDeps, record: SessionRecord): Promise<AoError | null> {
  if (record.metadata.workspacePath === "") return null;
  try {
    await deps.workspace.destroy(workspaceRef(record));
  } catch (error) {
    if (isRefusal(error)) return error;
    throw isAoError(error) ? stoppedError(error, record) : error;
  }
  lifecycleManager(deps).onWorkspaceFreed(record.id);
  return null;
}

function resultOf(
  { id, metadata }: SessionRecord,
  state: Pick<KillResult, "workspaceFreed" | "alreadyTerminated">,
): KillResult {
  const workspacePath = state.workspaceFreed ? null : metadata.workspacePath;
  return { id, ...state, salvageRef: null, workspacePath };
}

function refusedError(refusal: AoError, result: KillResult): AoError {
  const { id, workspacePath } = result;
  const why = describeRefusal(refusal);
  return new AoError(refusal.code, `session ${id} was terminated, its worktree stays: ${why}`, {
    hint: `commit and push what counts in ${workspacePath}, then: ao kill ${id}`,
    details: { ...refusal.details, ...result, findings: findingsIn(refusal) },
    cause: refusal,
  });
}

/** The worktree could not be judged: the session is over all the same, and the error says so. */
function stoppedError(error: AoError, { id, metadata }: SessionRecord): AoError {
  const { workspacePath } = metadata;
  return new AoError(error.code, `session ${id} was terminated, its worktree stays: ${error.message}`, {
    hint: error.hint ?? `try again: ao kill ${id}`,
    details: { ...error.details, id, workspaceFreed: false, workspacePath },
    cause: error,
  });
}
