import { lstatSync, readdirSync } from "node:fs";
import { type BytePath, below, bytePathOf, placeOf, textOf } from "./byte-path.ts";
import { realFolders } from "./real-folders.ts";
import { type FolderContent, walkFolder } from "./walk-folder.ts";

const NOTHING: FolderContent = { files: [], empty: [], unkeepable: [] };
/** Stands in a text for bytes that are no UTF-8. */
const REPLACEMENT = "\uFFFD";

/**
 * All that the named paths stand for. What is gone by now is nothing; what lies behind a link, or outside,
 * cannot be kept.
 */
export function ignoredFiles(root: string, paths: readonly string[]): FolderContent {
  const found = paths.map((path) => expand(root, path));
  return {
    files: unique(found.flatMap(({ files }) => files)),
    empty: unique(found.flatMap(({ empty }) => empty)),
    unkeepable: found.flatMap(({ unkeepable }) => unkeepable),
  };
}

const partsOf = (text: string): readonly string[] =>
  text.split("/").filter((part) => part !== "" && part !== ".");

/**
 * What a path inside a folder stands for that a program has told as text; where bytes were lost, all that is like it.
 */
export function pathsLike(root: string, text: string): readonly BytePath[] {
  return resolveParts(root, partsOf(text));
}

function expand(root: string, text: string): FolderContent {
  const parts = partsOf(text);
  const isInside = !text.startsWith("/") && !parts.includes("..") && parts.length > 0;
  if (!isInside) return cannot(text, "it is no path inside the workspace");
  const matches = resolveParts(root, parts);
  if (matches.length === 0 && text.includes(REPLACEMENT)) return cannot(text, "its name is not known");
  const each = matches.map((path) => contentAt(root, path));
  return {
    files: each.flatMap(({ files }) => files),
    empty: each.flatMap(({ empty }) => empty),
    unkeepable: each.flatMap(({ unkeepable }) => unkeepable),
  };
}

function cannot(text: string, why: string): FolderContent {
  return { ...NOTHING, unkeepable: [{ path: bytePathOf(text), why }] };
}

/** A name that lost bytes on its way into a text stands for all that would show like it. */
function resolveParts(root: string, parts: readonly string[]): readonly BytePath[] {
  let folders: readonly BytePath[] = [""];
  for (const part of parts) {
    folders = part.includes(REPLACEMENT)
      ? folders.flatMap((folder) => namesLike(root, folder, part))
      : folders.map((folder) => below(folder, bytePathOf(part)));
  }
  return folders;
}

function namesLike(root: string, folder: BytePath, part: string): readonly BytePath[] {
  if (!realFolders(root).has(folder)) return [];
  const names = readdirSync(placeOf(root, folder), { encoding: "buffer" });
  return names
    .map((name) => name.toString("latin1"))
    .filter((name) => textOf(name) === part)
    .map((name) => below(folder, name));
}

function contentAt(root: string, path: BytePath): FolderContent {
  const folders = realFolders(root);
  if (folders.has(path)) return walkFolder(root, path);
  const parent = path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : "";
  const isThere = lstatSync(placeOf(root, path), { throwIfNoEntry: false }) !== undefined;
  if (!isThere) return NOTHING;
  return folders.has(parent)
    ? { ...NOTHING, files: [path] }
    : { ...NOTHING, unkeepable: [{ path, why: "it lies behind a link" }] };
}

function unique<Value>(values: readonly Value[]): readonly Value[] {
  return [...new Set(values)];
}
