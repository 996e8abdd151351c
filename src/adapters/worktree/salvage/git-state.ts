import { lstatSync, readFileSync } from "node:fs";
import type { HeadPosition } from "../../../domain/salvage.ts";
import { gitFailed } from "../git-failure.ts";
import { hasCode } from "../system-error.ts";
import { type BytePath, placeOf, textOf } from "./byte-path.ts";
import type { Plumbing } from "./plumbing.ts";
import { walkFolder } from "./walk-folder.ts";

/** What git remembers of a worktree beside files and index. */
export interface GitState {
  readonly head: HeadPosition;
  /** The files of its private git directory by their paths in it: merges and the like under way, messages, settings. */
  readonly files: ReadonlyMap<BytePath, Buffer>;
  /** Its own refs (gitrepository-layout(5), `refs/bisect` and so on), with what they point at. */
  readonly refs: Readonly<Record<string, string>>;
}

/** Reads all of it. @throws AoError git_failed */
export async function readGitState(plumbing: Plumbing): Promise<GitState> {
  const [head, refs] = await Promise.all([readHead(plumbing), readOwnRefs(plumbing)]);
  return { head, refs, files: readStateFiles(plumbing.gitDir) };
}

/** Where HEAD stands. @throws AoError git_failed when that cannot be told. */
export async function readHead(plumbing: Plumbing): Promise<HeadPosition> {
  const [symbolic, commit] = await Promise.all([
    plumbing.ask(["symbolic-ref", "--quiet", "HEAD"]),
    headCommit(plumbing),
  ]);
  const ref = symbolic.exitCode === 0 ? textOf(symbolic.stdout.trimEnd()) : null;
  if (ref?.startsWith("refs/heads/") === true && (commit !== null || (await isUnborn(plumbing, ref)))) {
    return { kind: "branch", branch: ref.slice("refs/heads/".length), commit };
  }
  if (commit === null || ref !== null) throw gitFailed("tell where HEAD stands", symbolic.stderr);
  return { kind: "detached", commit };
}

/** Commit of HEAD; `null` when there is none, or it cannot be read. */
export async function headCommit(plumbing: Plumbing): Promise<string | null> {
  const result = await plumbing.ask(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]);
  return result.exitCode === 0 ? result.stdout.trim() : null;
}

/** A branch whose commit cannot be read is not one without a commit. */
async function isUnborn(plumbing: Plumbing, ref: string): Promise<boolean> {
  const { exitCode } = await plumbing.ask(["show-ref", "--verify", "--quiet", "--", ref]);
  return exitCode === 1;
}

const OWN_REFS = ["refs/bisect", "refs/worktree", "refs/rewritten"];

async function readOwnRefs(plumbing: Plumbing): Promise<Readonly<Record<string, string>>> {
  const args = ["for-each-ref", "--format=%(refname) %(objectname)", ...OWN_REFS];
  const lines = (await plumbing.tell("list the worktree's refs", args)).split("\n").filter(Boolean);
  return Object.fromEntries(lines.map((line) => line.split(" ", 2)));
}

/**
 * What is told in another way, belongs to the place and not to the work, or comes back by itself. All else is
 * kept, so that nothing is lost that a later git puts there.
 */
const LEFT_OUT =
  /^(HEAD|index|commondir|gitdir|locked|FETCH_HEAD|gc\.pid|refs|reftable|logs|modules|objects|hooks)$|^(ao|sharedindex\.|fsmonitor--daemon|fast_import_crash_|next-index-)|\.lock$|\.tmp$/;

function readStateFiles(gitDir: string): ReadonlyMap<BytePath, Buffer> {
  const isLeftOut = (path: BytePath): boolean => LEFT_OUT.test(path);
  const { files } = walkFolder(gitDir, "", isLeftOut);
  const kept = files.filter((path) => !isLeftOut(path)).sort();
  return new Map(kept.flatMap((path) => contentOf(gitDir, path)));
}

/** Sockets and pipes are nobody's work, and what git has removed meanwhile is no more there. */
function contentOf(gitDir: string, path: BytePath): readonly (readonly [BytePath, Buffer])[] {
  const place = placeOf(gitDir, path);
  try {
    return lstatSync(place).isFile() ? [[path, readFileSync(place)]] : [];
  } catch (error) {
    if (hasCode(error, "ENOENT")) return [];
    throw error;
  }
}
