import { lstatSync } from "node:fs";
import { join } from "node:path";
import { AoError } from "../../../domain/errors.ts";
import type { PutBackReport } from "../../../ports/snapshots.ts";
import { applyFiles } from "./apply-files.ts";
import { baseFiles } from "./base-files.ts";
import { type BytePath, placeOf } from "./byte-path.ts";
import { type CopiedIndex, copyIndex } from "./copy-index.ts";
import { readHead } from "./git-state.ts";
import type { Keeping } from "./keep-work.ts";
import { planFiles } from "./plan-files.ts";
import { refreshIndex } from "./put-index.ts";
import { refuseConflicts } from "./refuse-conflicts.ts";
import { readSavedState } from "./saved-state.ts";
import { type FilesState, scanFiles, type TreeEntry } from "./scan-files.ts";
import { clearScratch } from "./set-aside.ts";
import { withTempFolder } from "./temp-folder.ts";
import { fromTreeName } from "./tree-names.ts";
import { readTree } from "./trees.ts";

export interface Rewinding {
  /** Commit of the checkpoint. */
  readonly checkpoint: string;
  /** Commit of the salvage that holds what is there; `null` when HEAD does. */
  readonly salvage: string | null;
}

type Files = ReadonlyMap<BytePath, TreeEntry>;

/** `Snapshots.rewind` for one worktree. */
export function rewindFiles(keeping: Keeping, { checkpoint, salvage }: Rewinding): Promise<PutBackReport> {
  const { plumbing, root, boundary } = keeping;
  const scratch = `.ao-rewind-${checkpoint}`;
  return withTempFolder(plumbing.gitDir, async (folder) => {
    keeping.fence();
    await clearScratch(root, scratch);
    const wanted = await filesOf(plumbing, checkpoint);
    const { state, index } = await look(keeping, wanted, folder);
    const target = withoutSkipped(wanted, state.files, index);
    const isHeld = await heldFiles(keeping, { state, index, salvage });
    const fateOf = (path: BytePath) => (isHeld(path) ? "remove" : "conflict");
    const plan = planFiles({ root, current: state.files, target, mayReplace: isHeld, fateOf });
    refuseConflicts(root, plan.conflicts);
    const permissionsOf = (path: BytePath, entry: TreeEntry) => permissionsLike(root, path, entry);
    const files = await applyFiles({
      ...{ plumbing, root, plan, scratch, boundary, permissionsOf, step: "rewind.file", held: new Map() },
      ...{ current: state.files, format: keeping.settings.format, fence: keeping.fence },
    });
    keeping.fence();
    await refreshIndex(keeping.git, root);
    await proveBack(keeping, target, folder);
    return { files };
  });
}

async function filesOf(plumbing: Keeping["plumbing"], tree: string): Promise<Files> {
  const entries = [...(await readTree(plumbing, tree))];
  return new Map(entries.map(([name, entry]) => [fromTreeName(name), entry]));
}

interface Looked {
  readonly state: FilesState;
  readonly index: CopiedIndex;
}

async function look({ plumbing, root, settings }: Keeping, wanted: Files, folder: string): Promise<Looked> {
  const index = await copyIndex({ plumbing, format: settings.format, path: join(folder, "index") });
  const extra = [...wanted.keys()];
  return { index, state: await scanFiles({ root, index, settings, extra, closely: false }) };
}

/** A sparse checkout leaves files out now as it did then. */
function withoutSkipped(wanted: Files, current: Files, { content }: CopiedIndex): Files {
  const skipped = content.entries.filter(({ path, skipWorktree }) => skipWorktree && !current.has(path));
  const leftOut = new Set(skipped.map(({ path }) => path));
  return new Map([...wanted].filter(([path]) => !leftOut.has(path)));
}

/** Tells whether a file is held elsewhere exactly as it is here. */
async function heldFiles(
  { plumbing, root }: Keeping,
  { state, index, salvage }: Looked & { readonly salvage: string | null },
): Promise<(path: BytePath) => boolean> {
  if (salvage !== null) {
    const { files } = await readSavedState(plumbing, salvage);
    return (path) => isSame(files.get(path), state.files.get(path));
  }
  const head = (await readHead(plumbing)).commit;
  const hasHidden = index.content.entries.some((entry) => entry.skipWorktree || entry.assumeUnchanged);
  const { clean } = await baseFiles({ plumbing: index.plumbing, root, head, hasHidden });
  return (path) => clean.has(path);
}

function isSame(one: TreeEntry | undefined, other: TreeEntry | undefined): boolean {
  return one !== undefined && one.mode === other?.mode && one.oid === other.oid;
}

/** As the file has them that is there, else as a new one gets them. */
function permissionsLike(root: string, path: BytePath, { mode }: TreeEntry): number {
  const there = lstatSync(placeOf(root, path), { throwIfNoEntry: false });
  const usual = there?.isFile() === true ? there.mode & 0o7777 : 0o666 & ~process.umask();
  return mode === "100755" ? usual | ((usual & 0o444) >> 2) : usual & ~0o111;
}

/** @throws AoError busy when somebody changes it meanwhile. */
async function proveBack(keeping: Keeping, target: Files, folder: string): Promise<void> {
  const { state } = await look(keeping, target, folder);
  const isBack = [...target].every(([path, { mode, oid }]) => {
    const there = state.files.get(path);
    return there?.mode === mode && (there.oid === oid || mode === "160000");
  });
  if (isBack && [...state.files.keys()].every((path) => target.has(path))) return;
  throw new AoError("busy", `${keeping.root} keeps changing while its files are put back`, {
    hint: "end what works in it and try again",
    details: { path: keeping.root },
  });
}
