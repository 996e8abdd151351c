import { constants, createWriteStream, lstatSync } from "node:fs";
import {
  chmod,
  copyFile,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  rmdir,
  symlink,
  unlink,
} from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { AoError } from "../../../domain/errors.ts";
import type { FaultPoint } from "../../../ports/fault-point.ts";
import { hasCode } from "../system-error.ts";
import { type BytePath, below, parentOf, parentsOf, placeOf, textOf } from "./byte-path.ts";
import type { FilesPlan } from "./plan-files.ts";
import type { Plumbing } from "./plumbing.ts";
import { type ReadObject, readObjects } from "./read-objects.ts";
import { realFolders } from "./real-folders.ts";
import type { TreeEntry } from "./scan-files.ts";

export interface Applying {
  readonly plumbing: Plumbing;
  readonly root: string;
  readonly plan: FilesPlan;
  /** As `chmod` takes them. */
  permissionsOf(path: BytePath, entry: TreeEntry): number;
  /** A folder at the top of the working tree for files that are not whole yet; nobody else's name. It is not there. */
  readonly scratch: string;
  /** Crossed before and after each file that changes, as `<boundary>:before` and `:after`. */
  readonly boundary: FaultPoint;
  readonly step: string;
}

/**
 * Carries a plan out. Each file is whole when it takes its place, and what is broken off leaves a plan that
 * does the rest. Nothing is written through a link, nor outside of the working tree.
 *
 * @returns how many files were written or removed.
 */
export async function applyFiles(applying: Applying): Promise<number> {
  const { root, plan } = applying;
  for (const path of plan.removed) await crossing(applying, () => removeFile(root, path));
  if (plan.put.size > 0) await putFiles(applying);
  return plan.removed.length + plan.put.size;
}

/** What a put-back that was broken off has left. */
export async function removeScratch(root: string, scratch: string): Promise<void> {
  await rm(placeOf(root, scratch), { recursive: true, force: true });
}

async function crossing(applying: Applying, work: () => Promise<void>): Promise<void> {
  await applying.boundary(`${applying.step}:before`);
  await work();
  await applying.boundary(`${applying.step}:after`);
}

async function removeFile(root: string, path: BytePath): Promise<void> {
  if (!realFolders(root).has(parentOf(path))) return;
  await unlink(placeOf(root, path)).catch(passOver("ENOENT"));
  for (const folder of [...parentsOf(path)].reverse()) {
    await rmdir(placeOf(root, folder)).catch(passOver("ENOENT", "ENOTEMPTY", "EEXIST"));
  }
}

async function putFiles(applying: Applying): Promise<void> {
  const { plumbing, root, plan, scratch } = applying;
  await mkdir(placeOf(root, scratch), { mode: 0o700 });
  const byOid = new Map<string, BytePath[]>();
  for (const [path, { mode, oid }] of plan.put) {
    if (mode === GITLINK) await crossing(applying, () => makeFolder(root, path));
    else byOid.set(oid, [...(byOid.get(oid) ?? []), path]);
  }
  await readObjects(plumbing, [...byOid.keys()], (object) =>
    putObject(applying, object, byOid.get(object.oid)),
  );
  await removeScratch(root, scratch);
}

const GITLINK = "160000";
const LINK = "120000";

/** A content that several files have is read once. Each of them is made aside and then moved to its place. */
async function putObject(
  applying: Applying,
  object: ReadObject,
  paths: readonly BytePath[] = [],
): Promise<void> {
  const { root, plan, scratch } = applying;
  const content = placeOf(root, below(scratch, "content"));
  await pipeline(object.chunks, createWriteStream(content, { mode: 0o600 }));
  for (const path of paths) {
    const entry = plan.put.get(path);
    if (entry !== undefined) await crossing(applying, () => putOne(applying, { path, entry, content }));
  }
}

interface Putting {
  readonly path: BytePath;
  readonly entry: TreeEntry;
  /** A file with what it has to hold. */
  readonly content: Buffer;
}

async function putOne(applying: Applying, { path, entry, content }: Putting): Promise<void> {
  const { root, scratch } = applying;
  const draft = placeOf(root, below(scratch, "draft"));
  await rm(draft, { force: true });
  if (entry.mode === LINK) await symlink(await readFile(content), draft);
  else {
    await copyFile(content, draft, constants.COPYFILE_FICLONE);
    await chmod(draft, applying.permissionsOf(path, entry));
  }
  await makeFolder(root, parentOf(path));
  await rename(draft, await clearedPlace(root, path));
}

/** Makes a folder and those above it. @throws AoError salvage_conflict when a link or a file is in the way. */
export async function makeFolder(root: string, path: BytePath): Promise<void> {
  for (const folder of path === "" ? [] : [...parentsOf(path), path]) {
    await mkdir(placeOf(root, folder)).catch(passOver("EEXIST"));
  }
  if (!realFolders(root).has(path)) throw inTheWay(path);
}

/** Empty folders may be where the file has to be. */
async function clearedPlace(root: string, path: BytePath): Promise<Buffer> {
  const place = placeOf(root, path);
  if (lstatSync(place, { throwIfNoEntry: false })?.isDirectory() === true) await removeEmpty(root, path);
  return place;
}

async function removeEmpty(root: string, path: BytePath): Promise<void> {
  const place = placeOf(root, path);
  for (const name of await readdir(place, { encoding: "buffer" })) {
    const inner = below(path, name.toString("latin1"));
    if (lstatSync(placeOf(root, inner)).isDirectory()) await removeEmpty(root, inner);
  }
  await rmdir(place).catch((error: unknown) => {
    throw hasCode(error, "ENOTEMPTY") ? inTheWay(path) : error;
  });
}

function inTheWay(path: BytePath): AoError {
  const conflicts = [{ path: textOf(path), why: "something came there meanwhile" }];
  return new AoError("salvage_conflict", `${textOf(path)} was not put back: something came there meanwhile`, {
    details: { conflicts },
  });
}

function passOver(...codes: readonly string[]): (error: unknown) => void {
  return (error) => {
    if (!codes.some((code) => hasCode(error, code))) throw error;
  };
}
