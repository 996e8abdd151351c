import { lstatSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { gitFailed } from "../git-failure.ts";
import { type BytePath, below, parentOf, parentsOf, placeOf, splitNul } from "./byte-path.ts";
import { convertedFiles } from "./converted-files.ts";
import type { CopiedIndex } from "./copy-index.ts";
import { type FileEntry, readFileEntry } from "./file-entry.ts";
import type { IndexEntry, SeenFile } from "./index-file.ts";
import type { Plumbing } from "./plumbing.ts";
import { realFolders } from "./real-folders.ts";
import type { RepositorySettings } from "./repository-settings.ts";
import type { SeenFiles } from "./seen-files.ts";
import { type UnkeepablePath, walkFolder } from "./walk-folder.ts";
import type { WantedBlob } from "./write-objects.ts";

/** A file as a tree of git holds it, its content raw. */
export interface TreeEntry {
  readonly mode: string;
  readonly oid: string;
}

/** The files of a working tree, byte for byte. */
export interface FilesState {
  readonly files: ReadonlyMap<BytePath, TreeEntry>;
  /** Neither in the index nor ignored. */
  readonly untracked: readonly BytePath[];
  /** Empty folders of repositories inside. */
  readonly empty: readonly BytePath[];
  /** What was read, so that it can be written to the repository. */
  readonly blobs: readonly WantedBlob[];
  readonly unkeepable: readonly UnkeepablePath[];
}

export interface FilesScan {
  readonly root: string;
  readonly index: CopiedIndex;
  readonly settings: RepositorySettings;
  /** Paths to look at besides those that git shows; they need not be there. */
  readonly extra: readonly BytePath[];
  /**
   * Whether to look closer than git does: into repositories inside, and at each file's times to the nanosecond
   * where git may be content with the second.
   */
  readonly closely: boolean;
  /** What was read before; without it all that git does not vouch for is read. */
  readonly seen?: SeenFiles | undefined;
}

const GITLINK = "160000";
/** So many files are read before others get a turn. */
const BATCH = 64;

/**
 * Looks at all files of a working tree but those that are ignored. Only those are read that git does not know
 * to be, byte for byte, what the index says.
 *
 * @throws AoError git_failed when git cannot look everywhere.
 */
export async function scanFiles(scan: FilesScan): Promise<FilesState> {
  const { plumbing, content } = scan.index;
  const [files, others] = await Promise.all([unchangedFiles(scan), otherPaths(plumbing)]);
  const inIndex = content.entries.map(({ path }) => path).filter((path) => !files.has(path));
  const untracked = others.filter((path) => !path.endsWith("/"));
  const nested = scan.closely ? nestedFolders(scan, others).map((path) => walkFolder(scan.root, path)) : [];
  const inNested = nested.flatMap((folder) => folder.files);
  const paths = [...new Set([...inIndex, ...untracked, ...inNested, ...scan.extra])];
  const looked = await lookAt(scan, paths);
  const all = new Map([...files, ...looked.files]);
  for (const path of inNested) for (const folder of parentsOf(path)) all.delete(folder);
  return {
    files: all,
    untracked: [...untracked, ...inNested],
    empty: nested.flatMap((folder) => folder.empty),
    blobs: looked.blobs,
    unkeepable: [...looked.unkeepable, ...nested.flatMap((folder) => folder.unkeepable)],
  };
}

/**
 * Folders that git does not look into: untracked repositories, and those that stand for a commit in the index
 * without being a submodule, whose `.git` is a file.
 */
function nestedFolders({ root, index }: FilesScan, others: readonly BytePath[]): readonly BytePath[] {
  const untracked = others.filter((path) => path.endsWith("/")).map((path) => path.slice(0, -1));
  const gitlinks = index.content.entries.filter(({ mode }) => mode === GITLINK).map(({ path }) => path);
  const isSubmodule = (path: BytePath): boolean =>
    lstatSync(placeOf(root, below(path, ".git")), { throwIfNoEntry: false })?.isFile() === true;
  const folders = realFolders(root);
  return [...untracked, ...gitlinks.filter((path) => folders.has(path) && !isSubmodule(path))];
}

/** Those that git knows to be, to the byte, what the index says. */
async function unchangedFiles({
  root,
  index,
  settings,
  closely,
}: FilesScan): Promise<ReadonlyMap<BytePath, TreeEntry>> {
  const { plumbing, content } = index;
  const changed = new Set(await changedPaths(plumbing));
  const isSame = ({ path, seen }: IndexEntry): boolean => !closely || isAsSeen(root, path, seen);
  const settled = content.entries.filter(
    (entry) => isSettled(entry) && !changed.has(entry.path) && isSame(entry),
  );
  const plain = settled.filter(({ mode }) => mode === "100644" || mode === "100755");
  const converted = new Set(await convertedFiles({ plumbing, root, isAuto: settings.autocrlf }, plain));
  const same = settled.filter(({ path }) => !converted.has(path));
  return new Map(same.map(({ path, mode, oid }) => [path, { mode, oid }]));
}

/** Nothing stands between the entry and the file: no conflict, no promise, and git does look. */
function isSettled({ stage, mode, assumeUnchanged, skipWorktree, intentToAdd }: IndexEntry): boolean {
  return stage === 0 && mode !== GITLINK && !assumeUnchanged && !skipWorktree && !intentToAdd;
}

/** A git that was built without them stores no nanoseconds: then all files are read. */
function isAsSeen(root: string, path: BytePath, seen: SeenFile): boolean {
  const found = lstatSync(placeOf(root, path), { bigint: true, throwIfNoEntry: false });
  return (
    found !== undefined &&
    found.ctimeNs === seen.ctimeNs &&
    found.mtimeNs === seen.mtimeNs &&
    Number(BigInt.asUintN(32, found.ino)) === seen.inode &&
    Number(BigInt.asUintN(32, found.size)) === seen.size
  );
}

async function changedPaths(plumbing: Plumbing): Promise<readonly BytePath[]> {
  const args = ["diff-files", "-z", "--name-only", "--no-renames", "--ignore-submodules=all"];
  return splitNul(await plumbing.tell("compare the files with the index", args));
}

/** Untracked files; a repository of its own is one entry and ends with `/`. git warns of what it cannot open. */
async function otherPaths(plumbing: Plumbing): Promise<readonly BytePath[]> {
  const args = ["ls-files", "-z", "--others", "--exclude-standard"];
  const { exitCode, stdout, stderr } = await plumbing.ask(args);
  const isBlind = /could not open directory|permission denied|input\/output error/i.test(stderr);
  if (exitCode !== 0 || isBlind) throw gitFailed("list the untracked files", stderr);
  return splitNul(stdout);
}

interface Looked {
  readonly files: Map<BytePath, TreeEntry>;
  readonly blobs: WantedBlob[];
  readonly unkeepable: UnkeepablePath[];
}

async function lookAt(
  { root, settings, index, seen }: FilesScan,
  paths: readonly BytePath[],
): Promise<Looked> {
  const gitlinks = index.content.entries.filter(({ mode }) => mode === GITLINK);
  const links = new Map(gitlinks.map(({ path, oid }) => [path, { mode: GITLINK, oid }]));
  const looked: Looked = { files: new Map(), blobs: [], unkeepable: [] };
  const folders = realFolders(root);
  for (const [at, path] of paths.entries()) {
    if (at % BATCH === 0) await setImmediate();
    if (!folders.has(parentOf(path))) continue;
    const entry = await readFileEntry({ root, format: settings.format, seen }, path);
    note(looked, entry, { path, place: placeOf(root, path), gitlink: links.get(path) });
  }
  return looked;
}

interface LookedAt {
  readonly path: BytePath;
  readonly place: Buffer;
  /** The commit that stands here in the index. */
  readonly gitlink: TreeEntry | undefined;
}

function note({ files, blobs, unkeepable }: Looked, entry: FileEntry, at: LookedAt): void {
  const { path, place, gitlink } = at;
  switch (entry.kind) {
    case "absent":
      return;
    case "folder":
      if (gitlink !== undefined) files.set(path, gitlink);
      return;
    case "special":
      unkeepable.push({ path, why: "it is neither file, folder nor link" });
      return;
    case "unreadable":
      unkeepable.push({ path, why: `it cannot be read: ${entry.cause}` });
      return;
    case "file":
    case "link":
      files.set(path, { mode: entry.mode, oid: entry.oid });
      blobs.push({ oid: entry.oid, source: sourceOf(entry, place) });
  }
}

function sourceOf(
  entry: Extract<FileEntry, { readonly kind: "file" | "link" }>,
  place: Buffer,
): WantedBlob["source"] {
  return entry.kind === "link"
    ? { kind: "bytes", bytes: entry.target }
    : { kind: "file", place, size: entry.size };
}
