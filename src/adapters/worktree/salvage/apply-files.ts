import { constants, createWriteStream, lstatSync } from "node:fs";
import { chmod, copyFile, readdir, readFile, rm, rmdir, symlink } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { isAoError } from "../../../domain/errors.ts";
import type { FaultPoint } from "../../../ports/fault-point.ts";
import { hasCode } from "../system-error.ts";
import { type BytePath, below, parentOf, placeOf } from "./byte-path.ts";
import type { FilesPlan } from "./plan-files.ts";
import type { Plumbing } from "./plumbing.ts";
import { type ReadObject, readObjects } from "./read-objects.ts";
import type { TreeEntry } from "./scan-files.ts";
import {
  type Aside,
  clearScratch,
  closeScratch,
  inTheWay,
  leftAside,
  makeFolder,
  moveIfFree,
  openScratch,
  recheckHeld,
  removeEmptyParents,
  setAside,
} from "./set-aside.ts";

export interface Applying extends Aside {
  readonly plumbing: Plumbing;
  readonly plan: FilesPlan;
  /** What was there when the plan was made. */
  readonly current: ReadonlyMap<BytePath, TreeEntry>;
  /** As `chmod` takes them. */
  permissionsOf(path: BytePath, entry: TreeEntry): number;
  /** Crossed before and after each file that changes, as `<boundary>:before` and `:after`. */
  readonly boundary: FaultPoint;
  readonly step: string;
}

/**
 * Carries a plan out. Each file is whole when it takes its place, and what is broken off leaves a plan that
 * does the rest. Nothing is written through a link, nor outside of the working tree. What goes is moved aside first
 * and compared there once more, and what comes takes its place only when nothing is in it.
 *
 * @returns how many files were written or removed.
 * @throws AoError salvage_conflict when a file is not any more what it was: it stays, and so does the rest.
 */
export async function applyFiles(applying: Applying): Promise<number> {
  const { root, plan, scratch } = applying;
  if (plan.removed.length + plan.put.size === 0) return 0;
  await openScratch(applying);
  try {
    for (const path of plan.removed) await crossing(applying, () => removeFile(applying, path));
    if (plan.put.size > 0) await putFiles(applying);
    await recheckHeld(applying);
  } catch (error) {
    const stays = isStillOurs(applying) ? await closeScratch(root, scratch).catch(() => []) : [];
    if (isAoError(error, "salvage_conflict") && stays.length > 0) throw leftAside(scratch, stays);
    throw error;
  }
  await clearScratch(root, scratch);
  return plan.removed.length + plan.put.size;
}

/** Whoever has taken it over since has a scratch folder of that name. */
function isStillOurs({ fence }: Applying): boolean {
  try {
    fence();
    return true;
  } catch {
    return false;
  }
}

async function crossing(applying: Applying, work: () => Promise<void>): Promise<void> {
  await applying.boundary(`${applying.step}:before`);
  applying.fence();
  await work();
  await applying.boundary(`${applying.step}:after`);
}

async function removeFile(applying: Applying, path: BytePath): Promise<void> {
  const expected = applying.current.get(path);
  if (expected === undefined) return;
  await setAside(applying, path, expected);
  await removeEmptyParents(applying.root, path);
}

async function putFiles(applying: Applying): Promise<void> {
  const { plumbing, root, plan } = applying;
  const byOid = new Map<string, BytePath[]>();
  for (const [path, { mode, oid }] of plan.put) {
    if (mode === GITLINK) await crossing(applying, () => makeFolder(root, path));
    else byOid.set(oid, [...(byOid.get(oid) ?? []), path]);
  }
  await readObjects(plumbing, [...byOid.keys()], (object) =>
    putObject(applying, object, byOid.get(object.oid)),
  );
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
  const { root, scratch, current } = applying;
  const draft = placeOf(root, below(scratch, "draft"));
  await rm(draft, { force: true });
  if (entry.mode === LINK) await symlink(await readFile(content), draft);
  else {
    await copyFile(content, draft, constants.COPYFILE_FICLONE);
    await chmod(draft, applying.permissionsOf(path, entry));
  }
  await makeFolder(root, parentOf(path));
  const expected = current.get(path);
  if (expected !== undefined && expected.mode !== GITLINK) await setAside(applying, path, expected);
  if (!(await moveIfFree(draft, await clearedPlace(root, path)))) throw inTheWay(path);
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
