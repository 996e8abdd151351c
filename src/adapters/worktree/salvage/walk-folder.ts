import { type Dirent, readdirSync } from "node:fs";
import { errorMessage } from "../../../domain/errors.ts";
import { type BytePath, below, placeOf } from "./byte-path.ts";

/** What cannot be kept, and why. */
export interface UnkeepablePath {
  readonly path: BytePath;
  readonly why: string;
}

/** What lies below a folder, links not followed. */
export interface FolderContent {
  /** Everything that is no folder. */
  readonly files: readonly BytePath[];
  /** Folders with nothing in them. */
  readonly empty: readonly BytePath[];
  /** What cannot be looked into. */
  readonly unkeepable: readonly UnkeepablePath[];
}

interface Walk {
  readonly root: string;
  readonly isLeftOut: (folder: BytePath) => boolean;
  readonly files: BytePath[];
  readonly empty: BytePath[];
  readonly unkeepable: UnkeepablePath[];
}

/** Walks through a folder of a working tree; those that are left out are not entered. */
export function walkFolder(
  root: string,
  path: BytePath,
  isLeftOut: (folder: BytePath) => boolean = () => false,
): FolderContent {
  const walk: Walk = { root, isLeftOut, files: [], empty: [], unkeepable: [] };
  enter(walk, path);
  return walk;
}

function enter(walk: Walk, path: BytePath): void {
  const entries = list(walk, path);
  if (entries === undefined) return;
  if (entries.length === 0) walk.empty.push(path);
  for (const entry of entries) {
    const name = below(path, entry.name.toString("latin1"));
    if (!entry.isDirectory()) walk.files.push(name);
    else if (!walk.isLeftOut(name)) enter(walk, name);
  }
}

function list(walk: Walk, path: BytePath): readonly Dirent<Buffer>[] | undefined {
  try {
    return readdirSync(placeOf(walk.root, path), { withFileTypes: true, encoding: "buffer" });
  } catch (error) {
    walk.unkeepable.push({ path, why: `it cannot be read: ${errorMessage(error)}` });
    return undefined;
  }
}
