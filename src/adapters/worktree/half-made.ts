import type { Stats } from "node:fs";
import { mkdtemp, readFile, readlink, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { AoError } from "../../domain/errors.ts";
import { shellQuoted } from "../../domain/shell-quoted.ts";
import type { WorkspacePlan, WorkspaceRef } from "../../ports/workspace.ts";
import { entryAt, namesAt } from "./entry-at.ts";
import { type Found, toFindings } from "./findings.ts";
import { gitFailed } from "./git-failure.ts";
import { inspectFiles } from "./inspect-files.ts";
import type { Marker } from "./marker.ts";
import type { Context } from "./place.ts";
import { comesAgain } from "./put-files.ts";
import type { Repository } from "./repository.ts";
import type { GitLocation } from "./run-git.ts";
import { isBelow } from "./safe-path.ts";
import { pathsLike } from "./salvage/ignored-files.ts";
import { hasCode } from "./system-error.ts";

/** What is bigger is not compared, and kept. */
const MAX_COMPARED_BYTES = 256 * 1024 ** 2;

export interface HalfMade {
  readonly ref: WorkspaceRef;
  readonly plan: WorkspacePlan;
  readonly repository: Repository;
  /** Resolved. */
  readonly path: string;
  /** What was written of it so far. */
  readonly marker: Marker | undefined;
}

/**
 * Refuses while there is anything in the folder of a half-made worktree that its making cannot have put there: somebody
 * may have begun to work in it. Files that are missing or cut off are no work, since the making was broken off, nor is
 * what lies in the repository just so. What a post-create command wrote cannot be told from somebody's own.
 *
 * @throws AoError workspace_dirty with `details.findings`; nothing was changed.
 * @throws AoError git_failed, git_unavailable when that could not be looked at.
 */
export async function refuseWorkIn(context: Context, half: HalfMade): Promise<void> {
  const { path } = half;
  if ((await entryAt(path)) === undefined) return;
  if ((await namesAt(path)).every((name) => name === ".git")) return;
  const findings = toFindings(await withPlannedIndex(context, half, (where) => workIn(context, half, where)));
  if (findings.length === 0) return;
  const why = findings.map(({ detail }) => detail).join("; ");
  throw new AoError("workspace_dirty", `${path} is kept, it was only half made and holds ${why}`, {
    hint: `ls -la ${shellQuoted(path)}`,
    details: { path, findings },
  });
}

/** What git has written of index and HEAD by then says nothing: a private git directory tells what was to come. */
async function withPlannedIndex<Result>(
  { git }: Context,
  { repository, plan, path, marker }: HalfMade,
  work: (where: GitLocation) => Promise<Result>,
): Promise<Result> {
  const gitDir = await mkdtemp(join(tmpdir(), "ao-half-made-"));
  // One that was made ahead has what it was made with until it is this making's.
  const baseCommit = marker?.spare?.baseCommit ?? plan.baseCommit;
  try {
    await writeFile(join(gitDir, "commondir"), `${repository.commonDir}\n`);
    await writeFile(join(gitDir, "HEAD"), `${baseCommit}\n`);
    const where: GitLocation = { kind: "git_dir", gitDir, workTree: path };
    const { exitCode, stderr } = await git.write(where, ["read-tree", baseCommit]);
    if (exitCode !== 0) throw gitFailed(`read what ${path} was to hold`, stderr);
    return await work(where);
  } finally {
    await rm(gitDir, { recursive: true, force: true });
  }
}

async function workIn(context: Context, half: HalfMade, where: GitLocation): Promise<Found> {
  const { path: root, ref } = half;
  const rule = () => context.ignoredRule(half.marker ?? ref);
  const { found } = await inspectFiles(context.git, { root, where, submodules: true, rule });
  const isForeign = async (path: string) => !(await isFromMaking(half, path));
  return {
    ...found,
    changed: await filtered(found.changed, async (path) => !(await isCutOff(context, { root, where, path }))),
    untracked: await filtered(found.untracked, isForeign),
    ignored: await filtered(found.ignored, isForeign),
  };
}

async function filtered(
  paths: readonly string[] = [],
  isWanted: (path: string) => Promise<boolean>,
): Promise<readonly string[]> {
  const wanted: string[] = [];
  for (const path of paths) if (await isWanted(path)) wanted.push(path);
  return wanted;
}

interface Tracked {
  readonly root: string;
  readonly where: GitLocation;
  readonly path: string;
}

/** Not there yet, or not yet to its end. */
async function isCutOff({ git }: Context, { root, where, path }: Tracked): Promise<boolean> {
  const entry = await entryAt(join(root, path));
  // What has no name as text is looked for by what it is like.
  if (entry === undefined) return !path.includes("\uFFFD") || pathsLike(root, path).length === 0;
  if (!isComparable(entry)) return false;
  const { exitCode, stdout } = await git.read(where, ["cat-file", "--filters", `:${path}`]);
  const text = await readFile(join(root, path), "utf8");
  return exitCode === 0 && text.length < stdout.length && stdout.startsWith(text);
}

/** A copy or a link that is as the making leaves it, or a copy that is cut off. */
async function isFromMaking({ marker, path: root, repository }: HalfMade, path: string): Promise<boolean> {
  const item = marker?.put.find((put) => put.path === path);
  if (item !== undefined && (await comesAgain(root, item, repository.path))) return true;
  const [copy, source] = [join(root, path), join(repository.path, path)];
  const entry = await entryAt(copy);
  // What has no name as text is not known by it: nobody can compare it.
  if (entry === undefined) return false;
  if (entry.isSymbolicLink()) return isPutLink(copy, { source, repositoryPath: repository.path });
  if (!isComparable(entry)) return false;
  const original = await contentOf(source);
  return original?.subarray(0, entry.size).equals(await readFile(copy)) === true;
}

function isComparable(entry: Stats): boolean {
  return entry.isFile() && entry.size <= MAX_COMPARED_BYTES;
}

async function isPutLink(
  link: string,
  { source, repositoryPath }: { readonly source: string; readonly repositoryPath: string },
): Promise<boolean> {
  const target = await readlink(link);
  const copied = await readlink(source).catch(() => undefined);
  return target === copied || isBelow(repositoryPath, resolve(dirname(link), target));
}

async function contentOf(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "EISDIR"].some((code) => hasCode(error, code))) return undefined;
    throw error;
  }
}
