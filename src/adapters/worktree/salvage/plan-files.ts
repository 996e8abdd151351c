import { lstatSync } from "node:fs";
import type { Conflict } from "../../../ports/snapshots.ts";
import { type BytePath, parentsOf, placeOf, textOf } from "./byte-path.ts";
import type { TreeEntry } from "./scan-files.ts";
import { walkFolder } from "./walk-folder.ts";

/** What becomes of the files of a working tree. */
export interface FilesPlan {
  readonly removed: readonly BytePath[];
  /** Commits of submodules are folders, and no more is made of them. */
  readonly put: ReadonlyMap<BytePath, TreeEntry>;
  readonly conflicts: readonly Conflict[];
}

export interface FilesWish {
  readonly root: string;
  /** What is there; every path of `target` was looked at. */
  readonly current: ReadonlyMap<BytePath, TreeEntry>;
  readonly target: ReadonlyMap<BytePath, TreeEntry>;
  /** Whether a file that is there, and other than in `target`, is held elsewhere as it is. */
  mayReplace(path: BytePath): boolean;
  /** What to do with a file that `target` does not have. */
  fateOf(path: BytePath): "remove" | "leave" | "conflict";
}

const GITLINK = "160000";

/** Plans how the files of `target` come to be there. Changes nothing; with conflicts nothing may be done. */
export function planFiles(wish: FilesWish): FilesPlan {
  const { current, target } = wish;
  const others = [...current].filter(([path, { mode }]) => !target.has(path) && mode !== GITLINK);
  const fates = others.map(([path]) => [path, wish.fateOf(path)] as const);
  const removed = fates.filter(([, fate]) => fate === "remove").map(([path]) => path);
  const strange = fates.filter(([, fate]) => fate === "conflict");
  const wanted = [...target].filter(([path, entry]) => !isSame(current.get(path), entry));
  const goes = new Set(removed);
  const judged = wanted.map(([path, entry]) => ({ path, entry, why: whyNot(wish, { path, goes }) }));
  return {
    removed,
    put: new Map(judged.map(({ path, entry }) => [path, entry])),
    conflicts: [
      ...strange.map(([path]) => ({ path: textOf(path), why: "it is there, and nothing else has it" })),
      ...judged.flatMap(({ path, why }) => (why === undefined ? [] : [{ path: textOf(path), why }])),
    ],
  };
}

/** Of a submodule only its folder is there to compare. */
function isSame(there: TreeEntry | undefined, { mode, oid }: TreeEntry): boolean {
  return there?.mode === mode && (there.oid === oid || mode === GITLINK);
}

interface Place {
  readonly path: BytePath;
  /** Files that are removed before. */
  readonly goes: ReadonlySet<BytePath>;
}

function whyNot(wish: FilesWish, { path, goes }: Place): string | undefined {
  const there = wish.current.get(path);
  const blocked = parentsOf(path).find((parent) => !goes.has(parent) && isInTheWay(wish, parent));
  if (blocked !== undefined) return `${textOf(blocked)} is in the way`;
  if (there !== undefined && there.mode !== GITLINK) {
    return wish.mayReplace(path) ? undefined : "it is there, other than it was";
  }
  const isFolder = kindAt(wish.root, path) === "folder";
  const left = isFolder ? walkFolder(wish.root, path).files.find((file) => !goes.has(file)) : undefined;
  return left === undefined ? undefined : `a folder is there, with ${textOf(left)} in it`;
}

/** A file where a folder has to be; one that `target` replaces is none. */
function isInTheWay({ root }: FilesWish, parent: BytePath): boolean {
  return kindAt(root, parent) === "other";
}

function kindAt(root: string, path: BytePath): "nothing" | "folder" | "other" {
  try {
    const found = lstatSync(placeOf(root, path), { throwIfNoEntry: false });
    if (found === undefined) return "nothing";
    return found.isDirectory() ? "folder" : "other";
  } catch {
    // Below a file there is nothing.
    return "nothing";
  }
}
