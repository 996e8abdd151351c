import { join } from "node:path";
import type { OperationId } from "../../../domain/operation.ts";
import { readMarker } from "../marker.ts";
import { operationOfReason } from "../operation-marks.ts";
import type { Context } from "../place.ts";
import type { Repository } from "../repository.ts";
import { isBelow } from "../safe-path.ts";
import { lockReason, readGitLink } from "../worktree-records.ts";
import { finishMove } from "./adopt-spare.ts";
import { releaseSpare } from "./claim-spare.ts";
import { sparesOf } from "./find-spares.ts";

interface Adopting {
  readonly repository: Repository;
  /** Where the spare was to go, resolved. */
  readonly path: string;
  readonly projectId: string;
  readonly operationId: OperationId | null;
}

/**
 * Brings an adoption that was broken off to one of two states: the spare is where it was and free, since nothing was
 * done with it, or it is at the path, known to git there, and half made as any other.
 */
export async function settleAdoption(context: Context, adopting: Adopting): Promise<void> {
  const { repository, path, projectId, operationId } = adopting;
  if (operationId === null) return;
  for (const { record } of await sparesOf(context, repository, projectId)) {
    await releaseSpare(record, operationId);
  }
  const there = await readGitLink(path);
  if (there.kind !== "link" || !isBelow(join(repository.commonDir, "worktrees"), there.gitDir)) return;
  const { gitDir } = there;
  const [marker, reason] = await Promise.all([readMarker(gitDir), lockReason({ gitDir, path })]);
  if (marker?.spare === undefined || operationOfReason(reason) !== operationId) return;
  await finishMove(gitDir, path);
}
