import { lstatSync } from "node:fs";
import { type BytePath, bytesOf, parentsOf, placeOf } from "./byte-path.ts";

type Kind = "file" | "executable" | "folder";

/** The permissions of files and folders, as `chmod` takes them: the usual ones, and who differs. */
export interface Permissions {
  readonly usual: Readonly<Record<Kind, number>>;
  /** A folder's path ends with `/`. */
  readonly others: ReadonlyMap<BytePath, number>;
}

interface Found {
  readonly path: BytePath;
  readonly kind: Kind;
  readonly permissions: number;
}

/** Reads those of all that is kept and of the folders around it; links have none of their own. */
export function readPermissions(
  root: string,
  files: readonly BytePath[],
  emptyFolders: readonly BytePath[],
): Permissions {
  const around = [...files, ...emptyFolders].flatMap(parentsOf);
  const folders = [...new Set([...around, ...emptyFolders])];
  const found = [...files, ...folders].flatMap((path) => look(root, path));
  const usual = {
    file: usualOf(found, "file", 0o644),
    executable: usualOf(found, "executable", 0o755),
    folder: usualOf(found, "folder", 0o755),
  };
  const others = found.filter(({ kind, permissions }) => permissions !== usual[kind]);
  return { usual, others: new Map(others.map(({ path, permissions }) => [path, permissions])) };
}

function look(root: string, path: BytePath): readonly Found[] {
  const entry = lstatSync(placeOf(root, path), { throwIfNoEntry: false });
  if (entry === undefined) return [];
  const permissions = entry.mode & 0o7777;
  if (entry.isDirectory()) return [{ path: `${path}/`, kind: "folder", permissions }];
  if (!entry.isFile()) return [];
  return [{ path, kind: (permissions & 0o100) === 0 ? "file" : "executable", permissions }];
}

/** What most have; of two as frequent the lower, so that the same files say the same. */
function usualOf(found: readonly Found[], kind: Kind, otherwise: number): number {
  const counts = new Map<number, number>();
  for (const entry of found) {
    if (entry.kind === kind) counts.set(entry.permissions, (counts.get(entry.permissions) ?? 0) + 1);
  }
  const [first] = [...counts].sort(([a, many], [b, more]) => more - many || a - b);
  return first?.[0] ?? otherwise;
}

/** Those of one file or folder. */
export function permissionsOf({ usual, others }: Permissions, path: BytePath, kind: Kind): number {
  return others.get(kind === "folder" ? `${path}/` : path) ?? usual[kind];
}

/** As bytes: first the usual ones, then each other one with its path, each ending with NUL. */
export function encodePermissions({ usual, others }: Permissions): Buffer {
  const first = [usual.file, usual.executable, usual.folder].map(octal).join(" ");
  const rest = [...others]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, mode]) => `${octal(mode)} ${path}`);
  return bytesOf([first, ...rest].map((line) => `${line}\0`).join(""));
}

/** Parses what `encodePermissions` wrote. @throws Error on anything else. */
export function parsePermissions(text: string): Permissions {
  const [first = "", ...rest] = text.split("\0").slice(0, -1);
  const [file, executable, folder] = first.split(" ").map(parseOctal);
  if (file === undefined || executable === undefined || folder === undefined) throw malformed(first);
  const others = rest.map((line): [BytePath, number] => {
    const at = line.indexOf(" ");
    return [line.slice(at + 1), parseOctal(line.slice(0, at))];
  });
  return { usual: { file, executable, folder }, others: new Map(others) };
}

const octal = (mode: number): string => mode.toString(8);

function parseOctal(text: string): number {
  if (!/^[0-7]{1,4}$/.test(text)) throw malformed(text);
  return Number.parseInt(text, 8);
}

function malformed(text: string): Error {
  return new Error(`permissions of another form: ${JSON.stringify(text)}`);
}
