import { mkdir, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Conflict } from "../../../ports/snapshots.ts";
import { gitFailed } from "../git-failure.ts";
import { type BytePath, placeOf, textOf } from "./byte-path.ts";
import type { GitState } from "./git-state.ts";
import { isOfOperation } from "./operations.ts";
import type { Plumbing } from "./plumbing.ts";
import type { SavedState } from "./saved-state.ts";

type Wanted = Pick<SavedState, "git" | "refs">;

/** What is under way in the worktree, or marked by its own refs, and not of what is to be put back. */
export function gitStateConflicts(current: GitState, wanted: Wanted): readonly Conflict[] {
  const files = [...current.files].filter(
    ([path, content]) => isOfOperation(path) && wanted.git.get(path)?.equals(content) !== true,
  );
  const refs = Object.entries(current.refs).filter(([name, oid]) => wanted.refs[name] !== oid);
  return [
    ...files.map(([path]) => ({ path: textOf(path), why: "something else is under way" })),
    ...refs.map(([name]) => ({ path: textOf(name), why: "it points elsewhere" })),
  ];
}

/** Puts the files of the private git directory and the worktree's own refs back. Safe to repeat. */
export async function putGitState(
  plumbing: Plumbing,
  current: GitState,
  { wanted, folder }: { readonly wanted: Wanted; readonly folder: string },
): Promise<void> {
  for (const [path, content] of wanted.git) {
    if (current.files.get(path)?.equals(content) !== true)
      await putFile(plumbing.gitDir, path, { content, folder });
  }
  const missing = Object.entries(wanted.refs).filter(([name]) => current.refs[name] === undefined);
  if (missing.length === 0) return;
  const lines = missing.map(([name, oid]) => `update ${name}\0${oid}\0${"0".repeat(oid.length)}\0`);
  const result = await plumbing.ask(["update-ref", "--no-deref", "-z", "--stdin"], lines.join(""));
  if (result.exitCode !== 0) throw gitFailed("put the worktree's refs back", result.stderr);
}

async function putFile(
  gitDir: string,
  path: BytePath,
  { content, folder }: { readonly content: Buffer; readonly folder: string },
): Promise<void> {
  const draft = join(folder, "draft");
  await writeFile(draft, content);
  await mkdir(dirname(join(gitDir, textOf(path))), { recursive: true });
  await rename(draft, placeOf(gitDir, path));
}
