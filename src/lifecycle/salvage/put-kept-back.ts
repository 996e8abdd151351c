import { AoError, isAoError } from "../../domain/errors.ts";
import type { SessionRecord } from "../../domain/session.ts";
import { notMade } from "../../domain/special-files.ts";
import type { Fence } from "../../ports/fence.ts";
import type { WorkspaceRef, WorkspaceSpec } from "../../ports/workspace.ts";
import type { SessionDeps } from "../deps.ts";
import { workspaceRef } from "../session-refs.ts";

/** What was kept when the worktree was freed, unless it is not wanted. It stays on record until the session is open. */
export function keptRef({ metadata }: SessionRecord, isWanted = true): string | null {
  return isWanted ? (metadata.salvageRef ?? null) : null;
}

/** Where HEAD stood in what is to be put back; nothing when that was dropped. @throws AoError as `Snapshots.list` */
export async function keptHeadOf(
  { snapshots }: Pick<SessionDeps, "snapshots">,
  record: SessionRecord,
  ref: string | null,
): Promise<Pick<WorkspaceSpec, "keptHead">> {
  if (ref === null) return {};
  const { repositoryPath, sessionId } = workspaceRef(record);
  const kept = await snapshots.list(repositoryPath, sessionId);
  const found = kept.find((salvage) => salvage.ref === ref);
  return found === undefined ? {} : { keptHead: found.head };
}

export interface PutBack {
  /** The salvage that was put back; `null` for none. */
  readonly salvageRef: string | null;
  /** Things a person should know that were no failure. */
  readonly warnings: readonly string[];
}

/**
 * Puts the work back that was kept when a worktree was freed. Safe to repeat.
 *
 * @throws AoError salvage_conflict with what to do; nothing was put back.
 * @throws AoError as `Snapshots.putBack`.
 */
export async function putKeptBack(
  { snapshots }: Pick<SessionDeps, "snapshots">,
  workspace: WorkspaceRef,
  { ref, fence }: { readonly ref: string; readonly fence: Fence },
): Promise<PutBack> {
  try {
    const { missing = [] } = await snapshots.putBack({ workspace, ref, fence });
    return { salvageRef: ref, warnings: missing.length === 0 ? [] : [notMade(missing)] };
  } catch (error) {
    if (isAoError(error, "salvage_not_found")) {
      const warning = `the work that was kept in ${ref} is not put back: the salvage was dropped`;
      return { salvageRef: null, warnings: [warning] };
    }
    throw isAoError(error, "salvage_conflict") ? withAdvice(error, workspace, ref) : error;
  }
}

function withAdvice(error: AoError, { sessionId }: WorkspaceRef, ref: string): AoError {
  return new AoError("salvage_conflict", error.message, {
    hint: `see what is kept: ao salvage show ${ref}; to come back without it: ao restore ${sessionId} --no-salvage`,
    details: { ...error.details, salvageRef: ref },
    cause: error,
  });
}
