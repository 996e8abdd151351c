import { type JsonValue, jsonMembers } from "../../domain/canonical-json.ts";
import { AoError, codeOf, errorMessage, isAoError } from "../../domain/errors.ts";
import type { Operation } from "../../domain/operation.ts";
import type { MarkedRuntime, RuntimeSurvey } from "../../ports/runtime.ts";
import type { MarkedWorkspace } from "../../ports/workspace.ts";
import type { SessionDeps } from "../deps.ts";
import { beginOnce } from "../operations/begin-once.ts";
import { carryOut } from "../operations/carry-out.ts";
import { crossing } from "../operations/crossing.ts";
import { removeLaunch } from "../teardown.ts";
import { findOrphans, runtimeOrphan, workspaceOrphan } from "./find-orphans.ts";
import { freeOrphan, isOwned, orphanIntent } from "./free-orphan.ts";
import { judgeOrphan } from "./judge-orphans.ts";
import type { Orphan } from "./reconcile-result.ts";
import type { RecoveryError } from "./recovery.ts";

/** So many operations of a session are searched for a launch, the newest first. */
const LOOK_BACK = 1000;

export interface UndoneOrphans {
  readonly orphans: readonly Orphan[];
  readonly errors: readonly RecoveryError[];
}

export interface UndoOptions {
  /** As of `findOrphans`. */
  readonly marks?: RuntimeSurvey["marks"];
  /** Also takes worktrees away that hold work, once that is kept; no when not given. */
  readonly salvage?: boolean;
}

/**
 * Takes away what has our marks, no owner, and nothing to lose in it; names the rest. Each on its own. Where the
 * store is damaged anywhere nothing is taken away, which is an error of each: an owner may be what is lost.
 *
 * @throws AoError as `findOrphans`; nothing was changed then.
 */
export async function undoOrphans(
  deps: SessionDeps,
  { marks = null, salvage = false }: UndoOptions = {},
): Promise<UndoneOrphans> {
  const { runtimes, workspaces } = await findOrphans(deps, marks);
  const orphans: Orphan[] = [];
  const errors: RecoveryError[] = [];
  const kept = new Set<string>();
  const sight = soundly(deps);
  for (const runtime of runtimes) {
    const orphan = await settle(errors, `runtime of ${runtime.sessionId}`, () => undoRuntime(sight, runtime));
    if (orphan?.action !== "undone") kept.add(runtime.sessionId);
    if (orphan !== null) orphans.push(orphan);
  }
  for (const workspace of workspaces) {
    if (kept.has(workspace.ref.sessionId)) {
      orphans.push(workspaceOrphan(workspace, { action: "kept", detail: "its runtime is still there" }));
      continue;
    }
    const orphan = await settle(errors, `worktree ${workspace.ref.path}`, () =>
      undoWorkspace(sight, workspace, salvage),
    );
    if (orphan !== null) orphans.push(orphan);
  }
  return { orphans, errors };
}

/** `deps`, with one check of the store for all that is taken away with it. */
export function soundly(deps: SessionDeps): Sound {
  return { ...deps, requireSound: once(() => deps.store.verify()) };
}

/** The check of the whole store, which is read for it, no more than once and only when it counts. */
export interface Sound extends SessionDeps {
  /** @throws AoError store_corrupt */
  requireSound(): void;
}

/** `check` the first time; each later call comes to the same. */
function once(check: () => void): () => void {
  let outcome: { readonly error: unknown } | "passed" | null = null;
  return () => {
    outcome ??= outcomeOf(check);
    if (outcome !== "passed") throw outcome.error;
  };
}

function outcomeOf(check: () => void): { readonly error: unknown } | "passed" {
  try {
    check();
    return "passed";
  } catch (error) {
    return { error };
  }
}

async function settle(
  errors: RecoveryError[],
  subject: string,
  undo: () => Promise<Orphan | null>,
): Promise<Orphan | null> {
  try {
    return await undo();
  } catch (error) {
    // Another process has taken it up meanwhile: then it is no orphan.
    if (isAoError(error, "operation_in_progress")) return null;
    errors.push({ subject, code: codeOf(error), message: errorMessage(error) });
    return null;
  }
}

/**
 * A running agent is ended only where an operation that is over names its launch: the store knows then that it
 * has no part any more. One that no record names is left alone: it may be of the time after these records, when
 * the store was put back from a copy.
 */
async function undoRuntime(deps: Sound, runtime: MarkedRuntime): Promise<Orphan> {
  const { sessionId, process } = runtime;
  if (process !== null && !isLaunchOnRecord(deps, runtime)) {
    const detail = `its agent runs as process ${process.pid}, and nothing is recorded of this launch of ${sessionId}`;
    return runtimeOrphan(runtime, { action: "kept", detail });
  }
  deps.requireSound();
  await crossing(deps, "reconcile.runtime.destroy", () => deps.runtime.destroy(runtime));
  await crossing(deps, "reconcile.launch.remove", () => removeLaunch(deps, runtime));
  return runtimeOrphan(runtime, { action: "undone", detail: "no session has it" });
}

function isLaunchOnRecord(deps: SessionDeps, { sessionId, launchId }: MarkedRuntime): boolean {
  const { operations, unreadable } = deps.operations.ofSession(sessionId, LOOK_BACK);
  const isUnsure = unreadable.length > 0 || operations.some(({ state }) => state.kind === "prepared");
  return !isUnsure && operations.some((operation) => launchIn(operation) === launchId);
}

/** The launch that a spawn or a restore came to, or was to come to. */
function launchIn({ progress }: Operation): JsonValue | undefined {
  const members = jsonMembers(progress);
  const seed = jsonMembers(members?.["seed"] ?? null);
  return members?.["launchId"] ?? jsonMembers(seed?.["metadata"] ?? null)?.["launchId"];
}

/**
 * Takes a worktree of nobody away when there is nothing to lose in it, or with `salvage` once all that is in it is
 * kept; `null` when another process works on it.
 *
 * @throws AoError store_corrupt, operation_in_progress, and as `freeOrphan`.
 */
export async function undoWorkspace(
  deps: Sound,
  workspace: MarkedWorkspace,
  salvage = false,
): Promise<Orphan | null> {
  const judged = await judgeOrphan(deps, workspace);
  const { holds, fix } = judged;
  const keeps = salvage && judged.canKeep;
  if (holds !== null && !keeps) return workspaceOrphan(workspace, { action: "kept", detail: holds, fix });
  deps.requireSound();
  const intent = orphanIntent(deps, workspace.ref, keeps);
  const begun = await beginOnce(deps, intent, () => refuseOwned(deps, workspace));
  if (begun.kind !== "begun") return null;
  const held = begun.operation;
  const { why, salvageRef } = await carryOut(deps, held, () => freeOrphan(deps, held, workspace.ref));
  if (why !== null) return workspaceOrphan(workspace, { action: "kept", detail: why, salvageRef });
  return salvageRef === null
    ? workspaceOrphan(workspace, { action: "undone", detail: "it held nothing to lose" })
    : workspaceOrphan(workspace, { action: "salvaged", detail: `it held ${holds}`, salvageRef });
}

function refuseOwned({ store }: SessionDeps, { ref }: MarkedWorkspace): void {
  if (!isOwned(store, ref)) return;
  throw new AoError("operation_in_progress", `worktree ${ref.path} was taken up meanwhile`);
}
