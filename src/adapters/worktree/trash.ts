import { randomUUID } from "node:crypto";
import { lstat, mkdir, readdir, rename } from "node:fs/promises";
import { basename, dirname, join, sep } from "node:path";
import { AoError, errorMessage } from "../../domain/errors.ts";
import { isBelow, realpathOfAny } from "./safe-path.ts";
import { hasCode, saysNothing } from "./system-error.ts";

/**
 * Where worktrees go before they are deleted. The folder beside all worktrees serves when the first is on another file
 * system than they are; when one project's folder is on its own, as one that is mounted, one in that folder does.
 *
 * `<session>.held` is one on its way out that is still being judged: it may hold work and has to come back
 * when it does. `<session>.<unix ms of its making>.going` was judged, and git may still have its record: only this
 * tells a removal that was broken off from a folder that somebody moved away. `<session>.<unix ms>.<random>.gone` is
 * only waiting to be deleted.
 */
export interface Trash {
  readonly first: string;
  readonly managedRoot: string;
  /** Where the system lists what is mounted; where there is no such list, file systems are told apart by device. */
  readonly mountTable: string;
}

/** The trash of a managed root. */
export function trashOf(trashDir: string, managedRoot: string, mountTable: string): Trash {
  return { first: trashDir, managedRoot, mountTable };
}

const NAME = ".trash";

/** All that may hold something. @throws AoError data_dir_unusable when that cannot be told */
export async function trashFolders({ first, managedRoot }: Trash): Promise<readonly string[]> {
  const entries = await lookInto(managedRoot, () => readdir(managedRoot, { withFileTypes: true }));
  const projects = (entries ?? []).filter((entry) => entry.isDirectory() && entry.name !== NAME);
  const inProjects = projects.map(({ name }) => join(managedRoot, name, NAME));
  const found = await Promise.all(inProjects.map(async (folder) => ((await exists(folder)) ? [folder] : [])));
  return [first, join(managedRoot, NAME), ...found.flat()];
}

/** Where an interrupted removal left this session's worktree. @throws AoError data_dir_unusable */
export async function findHeld(trash: Trash, sessionId: string): Promise<string | undefined> {
  for (const folder of await trashFolders(trash)) {
    const path = join(folder, `${sessionId}.held`);
    if (await exists(path)) return path;
  }
  return undefined;
}

/** What interrupted removals left that git may still know, by path. @throws AoError data_dir_unusable */
export async function listHeld(trash: Trash): Promise<readonly string[]> {
  const names = (await trashFolders(trash)).map(async (folder) => {
    const found = await lookInto(folder, () => readdir(folder));
    return (found ?? []).filter((name) => /\.(held|going)$/.test(name)).map((name) => join(folder, name));
  });
  return (await Promise.all(names)).flat().sort();
}

/**
 * Moves the worktree at `path` out of everybody's way and returns where it is now. One rename: what is in
 * it, and every process in it, goes along.
 */
export function hold(trash: Trash, sessionId: string, path: string): Promise<string> {
  return moveInto(trash, path, () => `${sessionId}.held`);
}

/** Which making of a session's worktree one is; a restore makes another. */
export interface Making {
  readonly sessionId: string;
  /** As its marker says. */
  readonly createdAtMs: number;
}

/** Moves a worktree that was judged and may go to where it waits for its record to be dropped. */
export function letGo(trash: Trash, making: Making, path: string): Promise<string> {
  return moveInto(trash, path, () => goingName(making));
}

/** Where a removal that was broken off left a worktree that may go. @throws AoError data_dir_unusable */
export async function findGoing(trash: Trash, making: Making): Promise<string | undefined> {
  for (const folder of await trashFolders(trash)) {
    const path = join(folder, goingName(making));
    if (await exists(path)) return path;
  }
  return undefined;
}

/** What is to be deleted of a worktree that may go and has no record any more. @throws Error ENOENT when it is gone */
export async function leaveToSweep(tree: string): Promise<string> {
  const [sessionId = ""] = basename(tree).split(".");
  const gone = join(dirname(tree), goneName(sessionId, Date.now()));
  await rename(tree, gone);
  return gone;
}

function goingName({ sessionId, createdAtMs }: Making): string {
  return `${sessionId}.${createdAtMs}.going`;
}

/** The making that a folder in the trash is of; `undefined` for one that was not judged. */
export function makingOf(name: string): Making | undefined {
  const [, sessionId, createdAtMs] = /^([^.]+)\.(\d+)\.going$/.exec(name) ?? [];
  return sessionId === undefined ? undefined : { sessionId, createdAtMs: Number(createdAtMs) };
}

/** Moves a folder that may be deleted into the trash and returns where it is now. */
export function discard(trash: Trash, sessionId: string, path: string): Promise<string> {
  return moveInto(trash, path, () => goneName(sessionId, Date.now()));
}

/** The name of what is only waiting to be deleted, and since when. */
export function goneName(sessionId: string, atMs: number): string {
  return `${sessionId}.${atMs}.${randomUUID()}.gone`;
}

/** Since when something with such a name waits, in Unix milliseconds. */
export function discardedAtMs(name: string): number {
  return Number(name.split(".")[1]);
}

/** Moves a folder out of the trash again, to where it was. @throws Error as the system, ENOENT when it is gone */
export async function putBack(tree: string, path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await rename(tree, path);
}

/** One rename always, never a copy: a worktree is at one place at any moment. */
async function moveInto(trash: Trash, path: string, name: () => string): Promise<string> {
  const around = await folderAround(trash, path);
  for (const folder of [trash.first, join(trash.managedRoot, NAME)]) {
    try {
      return await moveTo(folder, path, name());
    } catch (error) {
      if (!hasCode(error, "EXDEV")) throw error;
    }
  }
  return moveTo(around, path, name());
}

/** Where a project's own trash is, from anything in its folder; of what is in a trash already, that one. */
async function folderAround({ managedRoot }: Trash, path: string): Promise<string> {
  const root = await realpathOfAny(managedRoot);
  const [project] = isBelow(root, path) ? path.slice(root.length + 1).split(sep) : [];
  return project === undefined || project === NAME ? dirname(path) : join(root, project, NAME);
}

async function moveTo(folder: string, path: string, name: string): Promise<string> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const target = join(folder, name);
  await rename(path, target);
  return target;
}

async function exists(path: string): Promise<boolean> {
  return (await lookInto(path, () => lstat(path))) !== undefined;
}

/** `undefined` when nothing is there: a trash that cannot be looked into may hold somebody's work. */
async function lookInto<Seen>(path: string, look: () => Promise<Seen>): Promise<Seen | undefined> {
  try {
    return await look();
  } catch (error) {
    if (saysNothing(error)) return undefined;
    throw new AoError("data_dir_unusable", `${path} cannot be looked at: ${errorMessage(error)}`, {
      details: { path },
      cause: error,
    });
  }
}
