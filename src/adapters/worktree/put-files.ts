import { createHash } from "node:crypto";
import { constants, createReadStream, type Stats } from "node:fs";
import { chmod, copyFile, lstat, mkdir, readdir, readlink, realpath, symlink } from "node:fs/promises";
import { dirname, isAbsolute, join, normalize, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { AoError } from "../../domain/errors.ts";
import { entryAt } from "./entry-at.ts";
import type { PutItem } from "./marker.ts";
import { isBelow, unsafePath } from "./safe-path.ts";
import { type BytePath, below, bytePathOf, placeOf, textOf } from "./salvage/byte-path.ts";
import { pathsLike } from "./salvage/ignored-files.ts";

export interface PutResult {
  readonly put: readonly PutItem[];
  readonly warnings: readonly string[];
}

interface Put {
  /** Resolved main working tree. */
  readonly from: string;
  /** Resolved worktree. */
  readonly to: string;
  /** Relative to both. */
  readonly path: string;
}

/**
 * The paths of the configuration, in plain relative form.
 *
 * @throws AoError config_invalid when one is absolute, climbs with `..` or names git's own folder.
 */
export function checkPutPaths(key: "symlinks" | "copy", paths: readonly string[]): readonly string[] {
  return paths.map((path) => {
    const plain = normalize(path).replace(/\/+$/, "");
    const parts = plain.split("/");
    const leaves = isAbsolute(path) || parts.includes("..") || parts[0] === ".git" || path.includes("\0");
    if (!leaves && plain !== "." && path !== "") return plain;
    throw new AoError(
      "config_invalid",
      `${key}: ${JSON.stringify(path)} is not a path inside the repository`,
      {
        hint: "give it relative to the repository, without ..",
        details: { key, path },
      },
    );
  });
}

/** Puts an absolute link to the main working tree's `path` into the worktree. */
export async function putLink(put: Put): Promise<PutResult> {
  const blocked = await whyNot(put);
  if (blocked !== undefined) return { put: [], warnings: [blocked] };
  const target = join(put.from, put.path);
  await refuseEscape(put.from, dirname(target));
  await symlink(target, await openPlace(put));
  return { put: [{ path: put.path, kind: "symlink", target }], warnings: [] };
}

/**
 * Copies the main working tree's file or folder `path`, modes kept.
 *
 * @throws AoError workspace_unsafe_path when a link in it leads out of the repository.
 */
export async function putCopy(put: Put): Promise<PutResult> {
  const blocked = await whyNot(put);
  if (blocked !== undefined) return { put: [], warnings: [blocked] };
  await refuseEscape(put.from, join(put.from, put.path));
  await openPlace(put);
  return copyEntry({ ...put, path: bytePathOf(put.path) });
}

async function whyNot({ from, to, path }: Put): Promise<string | undefined> {
  const source = await entryAt(join(from, path), "git_unavailable");
  if (source === undefined) return `${path} is not in ${from} and was not put into the workspace`;
  const there = await entryAt(join(to, path));
  return there === undefined ? undefined : `${path} is in the workspace already and was left as it is`;
}

/** Makes the folder of the target; a tracked link must not lead it out of the worktree. */
async function openPlace({ to, path }: Put): Promise<string> {
  const target = join(to, path);
  await refuseEscape(to, await nearestFolder(dirname(target)));
  await mkdir(dirname(target), { recursive: true });
  return target;
}

async function nearestFolder(path: string): Promise<string> {
  const there = await entryAt(path);
  return there === undefined ? nearestFolder(dirname(path)) : path;
}

/** A link that leads nowhere is judged by where its text points. */
async function refuseEscape(root: string, path: string): Promise<void> {
  const real = await realpath(path).catch(async () => resolve(dirname(path), await readlink(path)));
  if (real === root || isBelow(root, real)) return;
  throw unsafePath(path, `it leads outside ${root}`);
}

/** Names in a folder need not be UTF-8. */
interface Copy extends Omit<Put, "path"> {
  readonly path: BytePath;
}

async function copyEntry(copy: Copy): Promise<PutResult> {
  const entry = await lstat(placeOf(copy.from, copy.path));
  if (entry.isDirectory()) return copyFolder(copy, entry);
  if (entry.isSymbolicLink()) return copyLink(copy);
  if (entry.isFile()) return copyPlain(copy, entry);
  const path = textOf(copy.path);
  return { put: [], warnings: [`${path} is neither file, folder nor link and was not copied`] };
}

async function copyFolder(copy: Copy, entry: Stats): Promise<PutResult> {
  const target = placeOf(copy.to, copy.path);
  await mkdir(target, { mode: 0o700 });
  const results: PutResult[] = [];
  for (const name of await readdir(placeOf(copy.from, copy.path), { encoding: "buffer" })) {
    results.push(await copyEntry({ ...copy, path: below(copy.path, name.toString("latin1")) }));
  }
  await chmod(target, entry.mode & 0o7777);
  return mergePuts(results);
}

async function copyLink({ from, to, path }: Copy): Promise<PutResult> {
  const source = placeOf(from, path);
  const led = await readlink(source, { encoding: "buffer" });
  await refuseLeadingOut(from, { path, led });
  await symlink(led, placeOf(to, path));
  return { put: [{ path: textOf(path), kind: "symlink", target: String(led) }], warnings: [] };
}

/** As `refuseEscape`; where a link leads nowhere that has a name as text, its text says where it points. */
async function refuseLeadingOut(
  root: string,
  { path, led }: { readonly path: BytePath; readonly led: Buffer },
): Promise<void> {
  const source = join(root, textOf(path));
  const real = await realpath(placeOf(root, path)).catch(() => resolve(dirname(source), String(led)));
  if (real === root || isBelow(root, real)) return;
  throw unsafePath(source, `it leads outside ${root}`);
}

async function copyPlain({ from, to, path }: Copy, entry: Stats): Promise<PutResult> {
  const target = placeOf(to, path);
  await copyFile(placeOf(from, path), target, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  await chmod(target, entry.mode & 0o7777);
  return { put: [{ path: textOf(path), kind: "copy", sha256: await hashFile(target) }], warnings: [] };
}

/** All of them as one, in order. */
export function mergePuts(results: readonly PutResult[]): PutResult {
  return {
    put: results.flatMap(({ put }) => put),
    warnings: results.flatMap(({ warnings }) => warnings),
  };
}

/** SHA-256 of a file's content, in hexadecimal. */
export async function hashFile(path: string | Buffer): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return hash.digest("hex");
}

/**
 * Whether a thing that was put into the worktree at `root` is still there exactly as it was. False, too, where bytes
 * were lost from its name and more than one thing there has such a name.
 */
async function isAsPut(root: string, item: PutItem): Promise<boolean> {
  const [like, another] = pathsLike(root, item.path);
  if (like === undefined || another !== undefined) return false;
  const path = placeOf(root, like);
  const entry = await lstat(path).catch(() => undefined);
  if (entry === undefined) return false;
  if (item.kind === "symlink") return entry.isSymbolicLink() && (await readlink(path)) === item.target;
  return entry.isFile() && (await hashFile(path).catch(() => "")) === item.sha256;
}

/**
 * Whether what was put into the worktree at `root` is nobody's work: it is as it was put there and, where it is a copy,
 * its original still is the same at `from`, the main working tree. A copy without it is the last one.
 */
export async function comesAgain(root: string, item: PutItem, from: string | null): Promise<boolean> {
  if (!(await isAsPut(root, item))) return false;
  return item.kind !== "copy" || (from !== null && (await isAsPut(from, item)));
}
