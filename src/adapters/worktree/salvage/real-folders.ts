import { lstatSync } from "node:fs";
import { type BytePath, parentOf, placeOf } from "./byte-path.ts";

/** Which paths of a working tree are folders of its own, reached through no link. It remembers what it saw. */
export interface RealFolders {
  has(path: BytePath): boolean;
  /** What was seen there is no longer so. */
  forget(): void;
}

/** The folders of the working tree at `root`. */
export function realFolders(root: string): RealFolders {
  const seen = new Map<BytePath, boolean>();
  const look = (path: BytePath): boolean =>
    has(parentOf(path)) && lstatSync(placeOf(root, path), { throwIfNoEntry: false })?.isDirectory() === true;
  const has = (path: BytePath): boolean => {
    if (path === "") return true;
    const isReal = seen.get(path) ?? look(path);
    seen.set(path, isReal);
    return isReal;
  };
  return { has, forget: () => seen.clear() };
}
