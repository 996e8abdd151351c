import { link, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { OperationId } from "../../../domain/operation.ts";
import { lockReasonOf, operationOfReason } from "../operation-marks.ts";
import { hasCode } from "../system-error.ts";
import { lockReason, type WorktreeRecord } from "../worktree-records.ts";

/**
 * Takes a spare for an operation, by the same lock that marks a worktree in the making: git keeps one only, and the
 * system lets one process alone put it there. False when another has it, or it is on its way out.
 */
export async function claimSpare({ gitDir }: WorktreeRecord, operationId: OperationId): Promise<boolean> {
  const draft = join(gitDir, `locked.${operationId}.new`);
  try {
    await writeFile(draft, `${lockReasonOf(operationId)}\n`);
    await link(draft, join(gitDir, "locked"));
    return true;
  } catch (error) {
    if (hasCode(error, "EEXIST") || hasCode(error, "ENOENT")) return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

/** Gives a spare back that this operation took and left where it was. Idempotent. */
export async function releaseSpare(record: WorktreeRecord, operationId: OperationId): Promise<void> {
  if (operationOfReason(await lockReason(record)) !== operationId) return;
  await rm(join(record.gitDir, "locked"), { force: true });
}
