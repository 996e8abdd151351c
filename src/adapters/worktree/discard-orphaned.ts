import { rmdir } from "node:fs/promises";
import { dirname } from "node:path";
import { AoError } from "../../domain/errors.ts";
import { shellQuoted } from "../../domain/shell-quoted.ts";
import type { WorkspaceFinding } from "../../domain/workspace-finding.ts";
import type { WorkspaceRef } from "../../ports/workspace.ts";
import { namesAt } from "./entry-at.ts";
import type { Context } from "./place.ts";
import { removeEmptyFolders, removeFolder } from "./remove-worktree.ts";
import { realpathOfAny } from "./safe-path.ts";
import { findHeld } from "./trash.ts";
import { readGitLink } from "./worktree-records.ts";

/**
 * `Workspace.discard` at a resolved path when the repository is gone: there is neither record nor branch to take
 * back, and nobody can tell work in the folder from what was checked out. Only one with nothing in it goes.
 *
 * @throws AoError workspace_dirty when there is anything in it.
 */
export async function discardOrphaned(context: Context, ref: WorkspaceRef, path: string): Promise<void> {
  const held = await findHeld(context.trash, ref.sessionId);
  if (held !== undefined) throw orphaned(ref, held);
  const names = await namesAt(path);
  if (!(await isEmpty(path, names))) throw orphaned(ref, path);
  if (names.length === 0) await rmdir(path).catch(() => undefined);
  else await removeFolder({ ...context, sessionId: ref.sessionId, path }, path);
  await removeEmptyFolders(await realpathOfAny(context.managedRoot), dirname(path));
}

/** A link to the repository that is gone is nobody's work. */
async function isEmpty(path: string, names: readonly string[]): Promise<boolean> {
  if (names.length === 0) return true;
  return names.every((name) => name === ".git") && (await readGitLink(path)).kind !== "repository";
}

function orphaned({ path: wanted, repositoryPath }: WorkspaceRef, tree: string): AoError {
  const detail = `files at ${tree} that nobody can judge: their repository ${repositoryPath} is gone`;
  const finding: WorkspaceFinding = { kind: "unreadable", detail, items: [tree], count: 1 };
  return new AoError("workspace_dirty", `${wanted} is kept, it holds ${detail}`, {
    hint: `ls -la ${shellQuoted(tree)}`,
    details: { path: wanted, findings: [finding] },
  });
}
