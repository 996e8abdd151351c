import { join } from "node:path";
import { type BytePath, bytesOf } from "./byte-path.ts";
import type { CopiedIndex } from "./copy-index.ts";
import { blobOid } from "./file-entry.ts";
import type { IndexEntry } from "./index-file.ts";
import { encodeAbout, LAYOUT } from "./layout.ts";
import type { NamedObjects } from "./named-objects.ts";
import type { Looking, Observed, WorktreeState } from "./observe.ts";
import { encodePermissions } from "./permissions.ts";
import type { TreeEntry } from "./scan-files.ts";
import { encodeSpecials } from "./special-files.ts";
import { toTreeName } from "./tree-names.ts";
import { addSubtrees, changeIndex, type TreeChange, writeIndexTree, writeTree } from "./trees.ts";
import { type WantedBlob, writeBlobs } from "./write-objects.ts";

/** The trees that a state was written to. */
export interface StoredTrees {
  readonly all: string;
  readonly files: string;
  readonly staged: string;
}

export interface Storing {
  readonly looking: Looking;
  readonly observed: Observed;
  readonly objects: NamedObjects;
  /** For files of git's. */
  readonly folder: string;
}

/**
 * Writes a state to the repository, as one tree that is the same for the same state.
 *
 * @returns undefined when the worktree is no more what it was.
 */
export async function storeTree(storing: Storing): Promise<StoredTrees | undefined> {
  const { looking, observed, folder } = storing;
  const notes = notesOf(storing);
  const blobs = [...observed.state.blobs, ...notes.map(({ blob }) => blob)];
  if (!(await writeBlobs(looking.plumbing, blobs, folder))) return undefined;
  const staged = await writeStaged(observed);
  const files = await writeFilesTree(observed.index, observed.state.files);
  const own = looking.plumbing.withEnv({ GIT_INDEX_FILE: join(folder, "notes") });
  const named = notes.map(({ name, blob }) => [name, { mode: "100644", oid: blob.oid }] as const);
  const rest = await writeTree(own, [...named, ...conflicts(observed.state), ...looseBlobs(storing.objects)]);
  const subtrees = new Map([
    [LAYOUT.files as string, files],
    [LAYOUT.staged, staged],
  ]);
  for (const { oid, type } of storing.objects.others) if (type === "tree") subtrees.set(`tree-${oid}`, oid);
  return { files, staged, all: await addSubtrees(own, rest, subtrees) };
}

/** The index as a tree. git leaves out what is only promised to it; a conflict stands in no tree. */
async function writeStaged({ state, index }: Observed): Promise<string> {
  const unmerged = new Set(state.index.entries.filter(({ stage }) => stage > 0).map(({ path }) => path));
  await changeIndex(
    index.plumbing,
    [...unmerged].map((path): TreeChange => [path, undefined]),
  );
  return writeIndexTree(index.plumbing);
}

/** The files as a tree, made from the index on, since most is there already. The copy is theirs afterwards. */
export async function writeFilesTree(
  { plumbing, content }: CopiedIndex,
  files: ReadonlyMap<BytePath, TreeEntry>,
): Promise<string> {
  const known = new Map(content.entries.filter(isPlain).map((entry) => [entry.path, entry]));
  const gone = content.entries.filter(({ path }) => !files.has(path));
  const other = [...files].filter(([path, entry]) => !isSame(known.get(path), entry));
  const changes: readonly TreeChange[] = [
    ...gone.map(({ path }): TreeChange => [path, undefined]),
    ...other.map(([path, entry]): TreeChange => [toTreeName(path), entry]),
  ];
  await changeIndex(plumbing, changes);
  return writeIndexTree(plumbing);
}

const isPlain = ({ stage, intentToAdd }: IndexEntry): boolean => stage === 0 && !intentToAdd;

function isSame(known: TreeEntry | undefined, entry: TreeEntry): boolean {
  return known?.mode === entry.mode && known.oid === entry.oid;
}

function conflicts({ index }: WorktreeState): readonly (readonly [string, TreeEntry])[] {
  const unmerged = index.entries.filter(({ stage }) => stage > 0);
  return unmerged.map(({ stage, path, mode, oid }) => [`${LAYOUT.stages}/${stage}/${path}`, { mode, oid }]);
}

function looseBlobs({ others }: NamedObjects): readonly (readonly [string, TreeEntry])[] {
  const blobs = others.filter(({ type }) => type === "blob");
  return blobs.map(({ oid }) => [`${LAYOUT.objects}/${oid}`, { mode: "100644", oid }]);
}

interface Note {
  readonly name: string;
  readonly blob: WantedBlob;
}

function notesOf({ looking, observed }: Storing): readonly Note[] {
  const { state } = observed;
  const note = (name: string, bytes: Buffer): Note => {
    const oid = blobOid(looking.settings.format, bytes);
    return { name, blob: { oid, source: { kind: "bytes", bytes } } };
  };
  const git = [...state.git.files].map(([path, bytes]) => note(`${LAYOUT.git}/${toTreeName(path)}`, bytes));
  return [
    note(LAYOUT.about, encodeAbout(state.git)),
    note(LAYOUT.index, state.index.canonical),
    note(LAYOUT.permissions, encodePermissions(state.permissions)),
    note(LAYOUT.ignored, listOf(state.ignored)),
    note(LAYOUT.folders, listOf(state.empty)),
    ...(state.special.length === 0 ? [] : [note(LAYOUT.special, encodeSpecials(state.special))]),
    ...git,
  ];
}

function listOf(paths: readonly BytePath[]): Buffer {
  return bytesOf(
    [...paths]
      .sort()
      .map((path) => `${path}\0`)
      .join(""),
  );
}
