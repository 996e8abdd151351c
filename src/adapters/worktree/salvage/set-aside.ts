import { lstatSync } from "node:fs";
import { link, lstat, mkdir, readlink, rename, rm, rmdir, symlink, unlink } from "node:fs/promises";
import { AoError } from "../../../domain/errors.ts";
import type { Fence } from "../../../ports/fence.ts";
import { hasCode, saysNothing } from "../system-error.ts";
import { type BytePath, below, parentOf, parentsOf, placeOf, textOf } from "./byte-path.ts";
import { type FileEntry, readFileEntry } from "./file-entry.ts";
import type { ObjectFormat } from "./index-file.ts";
import { realFolders } from "./real-folders.ts";
import type { TreeEntry } from "./scan-files.ts";
import { walkFolder } from "./walk-folder.ts";

/** Files on their way out of a working tree: first moved aside, then looked at where nobody finds them any more. */
export interface Aside {
  readonly root: string;
  readonly format: ObjectFormat;
  /**
   * A folder at the top of the working tree; nobody else's name. `aside` in it has what may be somebody's work,
   * `held` what was found to be held elsewhere.
   */
  readonly scratch: string;
  /** Asked once more when a file lies aside. */
  readonly fence: Fence;
  /** What was set aside so far and is held elsewhere. */
  readonly held: Map<BytePath, HeldFile>;
}

/** A file that lies aside as it was seen to be. */
interface HeldFile {
  readonly expected: TreeEntry;
  /** Its times and size, by which a write through a file that somebody has open is told. */
  readonly stamp: string;
}

/** Makes the scratch folder, which is not there. */
export async function openScratch({ root, scratch }: Pick<Aside, "root" | "scratch">): Promise<void> {
  for (const folder of [scratch, below(scratch, "aside"), below(scratch, "held")]) {
    await mkdir(placeOf(root, folder), { mode: 0o700 });
  }
}

/**
 * Takes a file out of the working tree when it is exactly what was seen there; nothing is no trouble.
 *
 * @throws AoError salvage_conflict when it is something else by now: it is where it was then.
 */
export async function setAside(aside: Aside, path: BytePath, expected: TreeEntry): Promise<void> {
  const { root, scratch } = aside;
  if (!realFolders(root).has(parentOf(path))) return;
  const here = below(below(scratch, "aside"), path);
  await makeParents(root, here);
  if (!(await isMoved(placeOf(root, path), placeOf(root, here)))) return;
  if (await isStill(aside, here, expected)) {
    const held = below(below(scratch, "held"), path);
    await makeParents(root, held);
    const stamp = stampOf(placeOf(root, here));
    await rename(placeOf(root, here), placeOf(root, held));
    aside.held.set(path, { expected, stamp });
    return;
  }
  await bringBack(root, here, path);
  throw inTheWay(path);
}

/**
 * Looks once more at what lies aside, since who has a file open writes to it wherever it lies.
 *
 * @throws AoError salvage_conflict when one was changed; it is not taken for held any more.
 */
export async function recheckHeld({ root, format, scratch, held }: Aside): Promise<void> {
  for (const [path, { expected, stamp }] of held) {
    const place = below(below(scratch, "held"), path);
    if (stampOf(placeOf(root, place)) === stamp) continue;
    const found = await readFileEntry({ root, format }, place);
    if (isSame(found, expected)) continue;
    await rename(placeOf(root, place), placeOf(root, below(below(scratch, "aside"), path)));
    throw inTheWay(path);
  }
}

function stampOf(place: Buffer): string {
  const { ino, size, mtimeNs } = lstatSync(place, { bigint: true });
  return [ino, size, mtimeNs].join(" ");
}

function isSame(found: FileEntry, { mode, oid }: TreeEntry): boolean {
  return "oid" in found && found.mode === mode && found.oid === oid;
}

/** Below the scratch folder, which is never made anew: another process may have finished the work and taken it away. */
async function makeParents(root: string, path: BytePath): Promise<void> {
  const folders = parentsOf(path).slice(2);
  for (const folder of folders) await mkdir(placeOf(root, folder), { mode: 0o700 }).catch(passOver("EEXIST"));
  lstatSync(placeOf(root, parentOf(path)));
}

async function isMoved(from: Buffer, to: Buffer): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    if (saysNothing(error)) return false;
    throw error;
  }
}

async function isStill(
  { root, format, fence }: Aside,
  here: BytePath,
  expected: TreeEntry,
): Promise<boolean> {
  if (!isSame(await readFileEntry({ root, format }, here), expected)) return false;
  try {
    fence();
    return true;
  } catch (error) {
    await bringBack(root, here, here.split("/").slice(2).join("/"));
    throw error;
  }
}

/** False when something else is there; then it stays where it is. */
async function bringBack(root: string, here: BytePath, path: BytePath): Promise<boolean> {
  await makeFolder(root, parentOf(path));
  return moveIfFree(placeOf(root, here), placeOf(root, path));
}

/**
 * Moves a file or a link to a place where nothing is, whatever comes there at the same moment. False when something is.
 */
export async function moveIfFree(from: Buffer, to: Buffer): Promise<boolean> {
  try {
    const found = await lstat(from);
    if (found.isDirectory()) return await moveFolder(from, to);
    if (found.isSymbolicLink()) await symlink(await readlink(from, { encoding: "buffer" }), to);
    else await link(from, to);
  } catch (error) {
    if (hasCode(error, "EEXIST")) return false;
    if (!NO_LINKS.some((code) => hasCode(error, code))) throw error;
    return moveFolder(from, to);
  }
  await unlink(from);
  return true;
}

/** A file system without hard links says one of these (link(2)). */
const NO_LINKS = ["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"] as const;

async function moveFolder(from: Buffer, to: Buffer): Promise<boolean> {
  if (lstatSync(to, { throwIfNoEntry: false }) !== undefined) return false;
  await rename(from, to);
  return true;
}

/**
 * Takes the scratch folder away. What lies aside in it and was not found to be held elsewhere goes back to where it
 * was, also after a put-back that was broken off.
 *
 * @returns what could not go back since something else is there; it stays, below `<scratch>/aside`.
 */
export async function closeScratch(root: string, scratch: string): Promise<readonly BytePath[]> {
  const top = placeOf(root, scratch);
  if (lstatSync(top, { throwIfNoEntry: false }) === undefined) return [];
  const aside = below(scratch, "aside");
  const stays: BytePath[] = [];
  const { files, unkeepable } = walkFolder(root, aside);
  for (const file of lstatSync(placeOf(root, aside), { throwIfNoEntry: false }) === undefined ? [] : files) {
    const path = file.slice(aside.length + 1);
    const isBack = await bringBack(root, file, path).catch(() => false);
    if (!isBack) stays.push(path);
  }
  for (const name of ["held", "content", "draft"]) {
    await rm(placeOf(root, below(scratch, name)), { recursive: true, force: true });
  }
  if (stays.length > 0 || unkeepable.some(({ path }) => path !== aside)) return stays;
  await rm(top, { recursive: true, force: true });
  return [];
}

/** @throws AoError salvage_conflict when something that nobody keeps lies aside still. */
export async function clearScratch(root: string, scratch: string): Promise<void> {
  const stays = await closeScratch(root, scratch);
  const [first] = stays;
  if (first !== undefined) throw leftAside(scratch, stays);
}

/** The conflict of what lies aside, since something else came to where it was. */
export function leftAside(scratch: string, stays: readonly BytePath[]): AoError {
  const conflicts = stays.map((path) => {
    const kept = textOf(below(below(scratch, "aside"), path));
    return {
      path: textOf(path),
      why: `another file came there meanwhile; the one before is kept at ${kept}`,
    };
  });
  const said = conflicts.map(({ path, why }) => `${path}: ${why}`).join("; ");
  return new AoError("salvage_conflict", `nothing was put back: ${said}`, {
    hint: "keep what you want of both, and move the one aside elsewhere",
    details: { conflicts },
  });
}

/** The conflict of something that came to a place after it was looked at. */
export function inTheWay(path: BytePath): AoError {
  const conflicts = [{ path: textOf(path), why: "something came there meanwhile" }];
  return new AoError("salvage_conflict", `${textOf(path)} was not put back: something came there meanwhile`, {
    hint: "it is as it is now; when nothing works there any more, try again",
    details: { conflicts },
  });
}

/** Makes a folder and those above it. @throws AoError salvage_conflict when a link or a file is in the way. */
export async function makeFolder(root: string, path: BytePath): Promise<void> {
  for (const folder of path === "" ? [] : [...parentsOf(path), path]) {
    await mkdir(placeOf(root, folder)).catch(passOver("EEXIST"));
  }
  if (!realFolders(root).has(path)) throw inTheWay(path);
}

/** Takes away folders above a path that have nothing in them. */
export async function removeEmptyParents(root: string, path: BytePath): Promise<void> {
  for (const folder of [...parentsOf(path)].reverse()) {
    await rmdir(placeOf(root, folder)).catch(passOver("ENOENT", "ENOTEMPTY", "EEXIST"));
  }
}

/** For a promise: these codes are no failure. */
function passOver(...codes: readonly string[]): (error: unknown) => void {
  return (error) => {
    if (!codes.some((code) => hasCode(error, code))) throw error;
  };
}
