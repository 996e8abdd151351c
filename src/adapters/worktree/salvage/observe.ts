import { join } from "node:path";
import type { BytePath } from "./byte-path.ts";
import { type CopiedIndex, copyIndex } from "./copy-index.ts";
import { emptyFolders, foldersOfMissing } from "./empty-folders.ts";
import { type GitState, readGitState } from "./git-state.ts";
import { ignoredFiles } from "./ignored-files.ts";
import type { IndexContent } from "./index-file.ts";
import { type Permissions, readPermissions } from "./permissions.ts";
import type { Plumbing } from "./plumbing.ts";
import type { RepositorySettings } from "./repository-settings.ts";
import { type FilesState, scanFiles } from "./scan-files.ts";
import { type FoundSpecial, specialsAt } from "./special-files.ts";
import type { UnkeepablePath } from "./walk-folder.ts";

/** Everything in a worktree at one moment. */
export interface WorktreeState extends FilesState {
  readonly ignored: readonly BytePath[];
  readonly permissions: Permissions;
  readonly index: IndexContent;
  readonly git: GitState;
  readonly special: readonly FoundSpecial[];
  readonly unkeepable: readonly UnkeepablePath[];
}

/** A worktree that can be looked at. */
export interface Looking {
  readonly plumbing: Plumbing;
  readonly root: string;
  readonly settings: RepositorySettings;
}

export interface Observed {
  readonly state: WorktreeState;
  /** The copy of the index that was looked at; it may be written to. */
  readonly index: CopiedIndex;
}

export interface Observation {
  readonly ignoredPaths: readonly string[];
  /** More paths to look at; they need not be there. */
  readonly extra?: readonly BytePath[];
  /** Where pipes, sockets and devices are. */
  readonly special?: readonly BytePath[];
  /** For the copy of the index. */
  readonly folder: string;
}

/**
 * Looks at everything in a worktree. Changes nothing.
 *
 * @throws AoError git_failed when git cannot tell.
 */
export async function observe(looking: Looking, options: Observation): Promise<Observed> {
  const { plumbing, root, settings } = looking;
  const { format } = settings;
  const index = await copyIndex({ plumbing, format, path: join(options.folder, "index") });
  const ignored = ignoredFiles(root, options.ignoredPaths);
  const [scanned, empty, git] = await Promise.all([
    scanFiles({ root, index, settings, extra: [...ignored.files, ...(options.extra ?? [])], closely: true }),
    emptyFolders(index.plumbing, root),
    readGitState(plumbing),
  ]);
  const tracked = new Set(index.content.entries.map(({ path }) => path));
  const missing = foldersOfMissing(
    root,
    [...tracked].filter((path) => !scanned.files.has(path)),
  );
  const folders = [...new Set([...empty, ...missing, ...scanned.empty, ...ignored.empty])].sort();
  const state: WorktreeState = {
    ...scanned,
    ignored: ignored.files.filter((path) => scanned.files.has(path) && !tracked.has(path)),
    empty: folders,
    permissions: readPermissions(root, [...scanned.files.keys(), ...(options.special ?? [])], folders),
    index: index.content,
    git,
    special: specialsAt(root, options.special ?? []),
    unkeepable: [...scanned.unkeepable, ...ignored.unkeepable],
  };
  return { state, index };
}
