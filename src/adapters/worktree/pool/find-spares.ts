import { join } from "node:path";
import { parseSessionId } from "../../../domain/ids.ts";
import { isSpareName } from "../../../domain/spare-name.ts";
import { namesAt } from "../entry-at.ts";
import { readMarker, type SpareMark } from "../marker.ts";
import type { Context } from "../place.ts";
import type { Repository } from "../repository.ts";
import { isBelow, realpathOfAny } from "../safe-path.ts";
import { readGitLink, readRecord, type WorktreeRecord } from "../worktree-records.ts";

/** A worktree made ahead, where it was made. */
export interface Spare {
  readonly record: WorktreeRecord;
  readonly mark: SpareMark;
}

/** Those of a project in this repository, by their numbers; read from files alone. */
export async function sparesOf(
  { managedRoot }: Pick<Context, "managedRoot">,
  repository: Repository,
  projectId: string,
): Promise<readonly Spare[]> {
  const folder = join(await realpathOfAny(managedRoot), projectId);
  const names = (await namesAt(folder)).filter((name) => isSpareName(name) && parseSessionId(name));
  const byNumber = [...names].sort((a, b) => a.length - b.length || (a < b ? -1 : 1));
  const found = await Promise.all(
    byNumber.map((name) => spareAt(repository, managedRoot, join(folder, name))),
  );
  return found.filter((spare) => spare !== undefined);
}

/** What is no whole spare of this repository is left to those who judge what is marked. */
async function spareAt(
  { commonDir }: Repository,
  managedRoot: string,
  path: string,
): Promise<Spare | undefined> {
  const link = await readGitLink(path);
  if (link.kind !== "link" || !isBelow(join(commonDir, "worktrees"), link.gitDir)) return undefined;
  const [record, marker] = await Promise.all([readRecord(link.gitDir), readMarker(link.gitDir)]);
  const mark = marker?.managedRoot === managedRoot ? marker.spare : undefined;
  return record?.path === path && mark !== undefined ? { record, mark } : undefined;
}
