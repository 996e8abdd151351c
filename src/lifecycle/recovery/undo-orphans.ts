import { type JsonValue, jsonMembers } from "../../domain/canonical-json.ts";
import { AoError, errorMessage, isAoError } from "../../domain/errors.ts";
import type { Operation } from "../../domain/operation.ts";
import type { MarkedRuntime, RuntimeSurvey } from "../../ports/runtime.ts";
import type { MarkedWorkspace } from "../../ports/workspace.ts";
import type { SessionDeps } from "../deps.ts";
import { beginOnce } from "../operations/begin-once.ts";
import { carryOut } from "../operations/carry-out.ts";
import { crossing } from "../operations/crossing.ts";
import { operationLedger } from "../operations/ledger.ts";
import { removeLaunch } from "../teardown.ts";
import { describeFindings, describeRefusal, isRefusal } from "../workspace-refusal.ts";
import { findOrphans, runtimeOrphan, workspaceOrphan } from "./find-orphans.ts";
import type { Orphan } from "./reconcile-result.ts";
import type { RecoveryError } from "./recovery.ts";

/** So many operations of a session are searched for a launch, the newest first. */
const LOOK_BACK = 1000;

export interface UndoneOrphans {
  readonly orphans: readonly Orphan[];
  readonly errors: readonly RecoveryError[];
}

/**
 * Takes away what has our marks, no owner, and nothing to lose in it; names the rest. Each on its own. Where the
 * store is damaged anywhere nothing is taken away, which is an error of each: an owner may be what is lost.
 * `marks` as of `findOrphans`.
 *
 * @throws AoError as `findOrphans`; nothing was changed then.
 */
export async function undoOrphans(
  deps: SessionDeps,
  marks: RuntimeSurvey["marks"] = null,
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
      undoWorkspace(sight, workspace),
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
    errors.push({ subject, code: isAoError(error) ? error.code : "internal", message: errorMessage(error) });
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
 * Takes a worktree of nobody away when there is nothing to lose in it; `null` when another process works on it.
 *
 * @throws AoError store_corrupt, operation_in_progress, and as `Workspace.destroy`.
 */
export async function undoWorkspace(deps: Sound, workspace: MarkedWorkspace): Promise<Orphan | null> {
  const refusal = await refusalOf(deps, workspace);
  if (refusal !== null) return workspaceOrphan(workspace, { action: "kept", detail: refusal });
  deps.requireSound();
  const begun = await beginOnce(deps, intentOf(deps, workspace), () => refuseOwned(deps, workspace));
  if (begun.kind !== "begun") return null;
  const held = begun.operation;
  return carryOut(deps, held, async () => {
    await crossing(deps, "reconcile.workspace.destroy", () => deps.workspace.destroy(workspace.ref));
    await crossing(deps, "reconcile.complete", () => operationLedger(deps).complete(held, { freed: true }));
    return workspaceOrphan(workspace, { action: "undone", detail: "it held nothing to lose" });
  });
}

/** Why it has to stay; `null` when nothing would be lost. @throws AoError as `Workspace.inspect` but for a refusal */
export async function refusalOf(
  { workspace }: SessionDeps,
  { ref, flaw }: MarkedWorkspace,
): Promise<string | null> {
  if (flaw !== null) return flaw;
  try {
    const findings = await workspace.inspect(ref);
    return findings.length === 0 ? null : describeFindings(findings);
  } catch (error) {
    if (isRefusal(error)) return describeRefusal(error);
    throw error;
  }
}

function intentOf({ ids }: SessionDeps, { ref }: MarkedWorkspace) {
  const { projectId, sessionId } = ref;
  return {
    ...({ kind: "cleanup", projectId, sessionId, identifyingSessionId: sessionId } as const),
    ...{ subject: ids.uuid(), input: { orphan: ref.path }, progress: null },
  };
}

function refuseOwned(deps: SessionDeps, workspace: MarkedWorkspace): void {
  const { ref } = workspace;
  const metadata = deps.store.get(ref.sessionId)?.metadata;
  if (metadata?.workspacePath === ref.path && metadata.workspaceFreedAtMs === null)
    throw new AoError("operation_in_progress", `worktree ${ref.path} was taken up meanwhile`);
}
