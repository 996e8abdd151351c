import { isTerminal } from "../domain/lifecycle.ts";
import type { DeletedBranch, SessionRecord } from "../domain/session.ts";

/** A row with the branch that was checked out last; the same reference for no change. Pure, as all of these. */
export function onBranch(record: SessionRecord, branch: string): SessionRecord {
  if (record.metadata.branch === branch || !isTerminal(record.lifecycle)) return record;
  return { ...record, metadata: { ...record.metadata, branch } };
}

/** A row that knows where its branch stood, before that is deleted; `null` when it stays. */
export function withoutBranch(record: SessionRecord, deletedBranch: DeletedBranch | null): SessionRecord {
  if (!isTerminal(record.lifecycle)) return record;
  return { ...record, metadata: { ...record.metadata, deletedBranch } };
}

export interface Freed {
  readonly nowMs: number;
  readonly salvageRef: string | null | undefined;
}

/** A row whose worktree is gone. */
export function free(record: SessionRecord, { nowMs, salvageRef }: Freed): SessionRecord {
  const isFree = record.metadata.workspaceFreedAtMs !== null;
  if (isFree || !isTerminal(record.lifecycle)) return record;
  const kept = salvageRef === undefined ? {} : { salvageRef };
  return { ...record, metadata: { ...record.metadata, workspaceFreedAtMs: nowMs, ...kept } };
}

/** A row that knows where the work is that its worktree holds. */
export function withWork(record: SessionRecord, salvageRef: string): SessionRecord {
  const isOpen = record.metadata.workspaceFreedAtMs === null && isTerminal(record.lifecycle);
  if (!isOpen || record.metadata.salvageRef === salvageRef) return record;
  return { ...record, metadata: { ...record.metadata, salvageRef } };
}

/** A row whose worktree was made again. */
export function unfree(record: SessionRecord, workspacePath: string): SessionRecord {
  const isFree = record.metadata.workspaceFreedAtMs !== null;
  if (!isFree || !isTerminal(record.lifecycle)) return record;
  return { ...record, metadata: { ...record.metadata, workspacePath, workspaceFreedAtMs: null } };
}
