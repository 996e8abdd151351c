import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { copyIndex } from "./copy-index.ts";
import { readGitState } from "./git-state.ts";
import type { Looking, Observed } from "./observe.ts";
import { readPermissions } from "./permissions.ts";

/**
 * The state of a worktree whose folder somebody deleted, by what git still has of it: its index, and the files as
 * that one has them.
 *
 * @param folder for the copy of the index, and an empty folder in the place of the files.
 */
export async function observeRecord({ plumbing, settings }: Looking, folder: string): Promise<Observed> {
  const index = await copyIndex({ plumbing, format: settings.format, path: join(folder, "index") });
  const plain = index.content.entries.filter(({ stage, intentToAdd }) => stage === 0 && !intentToAdd);
  const files = new Map(plain.map(({ path, mode, oid }) => [path, { mode, oid }]));
  const nothing = { untracked: [], ignored: [], empty: [], blobs: [], special: [], unkeepable: [] };
  const root = join(folder, "nothing");
  await mkdir(root, { recursive: true });
  const git = await readGitState(plumbing);
  const state = { ...nothing, files, permissions: readPermissions(root, [], []), index: index.content, git };
  return { state, index };
}
