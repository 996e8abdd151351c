import { errorMessage, isAoError } from "../domain/errors.ts";
import type { RuntimeObservation } from "../domain/facts.ts";
import type { SessionId } from "../domain/ids.ts";
import { isKeepable, unkeepableFinding } from "../domain/salvage.ts";
import type { SessionRecord } from "../domain/session.ts";
import { skipReasonFor } from "../domain/skip-reason.ts";
import type { SkipReason, WorkspaceFinding } from "../domain/workspace-finding.ts";
import type { ProcessUse } from "../ports/process-table.ts";
import type { SessionDeps } from "./deps.ts";
import { describeRival, isOwnLaunch } from "./launch-owner.ts";
import { mayStillRun } from "./live-target.ts";
import { workspaceRef } from "./session-refs.ts";
import { describeFindings, findingsIn } from "./workspace-refusal.ts";

/** Why a worktree stays. */
export type Kept =
  | { readonly kind: "skip"; readonly reason: SkipReason; readonly detail: string }
  | { readonly kind: "error"; readonly message: string };

/** What a cleanup is to do with the worktree of one terminated session. */
export type Verdict = { readonly kind: "free" } | Kept;

export interface JudgeContext {
  readonly seen: RuntimeObservation | undefined;
  readonly nowMs: number;
  /** Least time since termination, in milliseconds; `null` for any. */
  readonly olderThanMs: number | null;
  /** Worktrees of sessions that are not over. */
  readonly pathsInUse: ReadonlySet<string>;
  /** One look at who uses any worktree; the removal looks again. */
  readonly users: readonly ProcessUse[];
  /** Work that can be kept is no reason to leave a worktree. */
  readonly salvage: boolean;
  /** A live session whose row names the same launch. */
  readonly rival: SessionId | undefined;
}

/**
 * Judges one worktree without changing anything: the dry run's answer and the run's decision.
 *
 * @throws AoError git_unavailable when git could not be asked.
 */
export async function judgeWorkspace(
  { workspace, snapshots }: Pick<SessionDeps, "workspace" | "snapshots">,
  record: SessionRecord,
  context: JudgeContext,
): Promise<Verdict> {
  const early = skipUnasked(record, context);
  if (early !== null) return early;
  try {
    const ref = workspaceRef(record);
    const findings = await workspace.inspect(ref, context.users);
    if (findings.length === 0) return { kind: "free" };
    if (!context.salvage || !isKeepable(findings)) return skipFor(findings);
    const unkeepable = await snapshots.obstacles(ref);
    return unkeepable.length === 0 ? { kind: "free" } : skipFor([unkeepableFinding(unkeepable)]);
  } catch (error) {
    return verdictOn(error);
  }
}

/**
 * What an error of the workspace means for this one session.
 *
 * @throws AoError git_unavailable as it came: no other session could be judged either.
 */
export function verdictOn(error: unknown): Kept {
  if (isAoError(error, "git_unavailable")) throw error;
  if (isAoError(error, "workspace_dirty")) return skipFor(findingsIn(error));
  if (isAoError(error, "workspace_unsafe_path")) return skip("unsafe_path", error.message);
  return { kind: "error", message: errorMessage(error) };
}

function skipUnasked(record: SessionRecord, context: JudgeContext): Kept | null {
  const { workspacePath } = record.metadata;
  const { rival, seen } = context;
  if (workspacePath === "") return skip("no_workspace", "no worktree is recorded");
  if (seen?.runtime.kind === "unknown") return skip("unknown", "its runtime could not be judged");
  if (mayStillRun(seen)) return skip("in_use", "its agent still runs");
  if (isTooRecent(record, context)) return skip("too_recent", "it was terminated not long enough ago");
  if (context.pathsInUse.has(workspacePath)) return skip("shared", "another session works in it");
  const isOwn = rival === undefined || isOwnLaunch(seen);
  return isOwn ? null : skip("unknown", describeRival(record.id, rival));
}

function isTooRecent(record: SessionRecord, { nowMs, olderThanMs }: JudgeContext): boolean {
  if (olderThanMs === null) return false;
  return nowMs - (record.terminatedAtMs ?? record.updatedAtMs) < olderThanMs;
}

function skipFor(findings: readonly WorkspaceFinding[]): Kept {
  return skip(skipReasonFor(findings), describeFindings(findings));
}

function skip(reason: SkipReason, detail: string): Kept {
  return { kind: "skip", reason, detail };
}
