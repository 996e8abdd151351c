import { lstatSync } from "node:fs";
import { type BytePath, placeOf } from "./byte-path.ts";
import type { IndexEntry } from "./index-file.ts";
import { notHeldByLfs } from "./lfs-content.ts";
import type { Plumbing } from "./plumbing.ts";

/**
 * How git changes the bytes of a file on their way in and out.
 *
 * `lines` are conversions that only ever take away on the way in: carriage returns, and what `$Id$` was
 * expanded to. `lfs` is Git LFS, which names content by its hash and keeps it itself (git-lfs-smudge(1)): an
 * unchanged file comes back from there, and reading all of them each time would take too long. `any` may be
 * anything.
 */
type Conversion = "none" | "lines" | "lfs" | "any";

type Entry = Pick<IndexEntry, "path" | "oid">;

export interface Converting {
  readonly plumbing: Plumbing;
  readonly root: string;
  /** Line ends are converted where no attribute says otherwise (git-config(1), `core.autocrlf`). */
  readonly isAuto: boolean;
}

/**
 * Those unchanged files that may not be, byte for byte, what the index says: git calls a file unchanged when
 * it is so after its conversions (gitattributes(5)).
 *
 * @param entries of plain files that git finds unchanged.
 */
export async function convertedFiles(
  { plumbing, root, isAuto }: Converting,
  entries: readonly Entry[],
): Promise<readonly BytePath[]> {
  const attributes = await readAttributes(plumbing, entries);
  if (attributes.size === 0 && !isAuto) return [];
  const kinds = entries.map((entry) => [entry, conversionOf(attributes.get(entry.path), isAuto)] as const);
  const of = (wanted: Conversion) => kinds.filter(([, kind]) => kind === wanted).map(([entry]) => entry);
  const any = of("any").map(({ path }) => path);
  const lines = await ofOtherSize(plumbing, root, of("lines"));
  return [...any, ...lines, ...(await notHeldByLfs(plumbing, root, of("lfs")))];
}

type Attributes = ReadonlyMap<string, string>;

const LINES = ["text", "crlf", "eol", "ident"];

function conversionOf(attributes: Attributes | undefined, isAuto: boolean): Conversion {
  const filter = attributes?.get("filter");
  if (isValue(attributes?.get("working-tree-encoding"))) return "any";
  if (isValue(filter)) return filter === "lfs" ? "lfs" : "any";
  const isSet = LINES.some((name) => !["unset", undefined].includes(attributes?.get(name)));
  if (isSet) return "lines";
  return isAuto && attributes?.get("text") !== "unset" ? "lines" : "none";
}

function isValue(value: string | undefined): boolean {
  return value !== undefined && value !== "unset" && value !== "set";
}

async function readAttributes(
  plumbing: Plumbing,
  entries: readonly Entry[],
): Promise<ReadonlyMap<BytePath, Attributes>> {
  if (entries.length === 0) return new Map();
  const names = entries.map(({ path }) => `${path}\0`).join("");
  const answer = await plumbing.tell("read attributes", ["check-attr", "-z", "--all", "--stdin"], names);
  const fields = answer.split("\0");
  const found = new Map<BytePath, Map<string, string>>();
  for (let at = 0; at + 2 < fields.length; at += 3) {
    const [path = "", name = "", value = ""] = fields.slice(at, at + 3);
    const known = found.get(path) ?? new Map<string, string>();
    found.set(path, known.set(name, value));
  }
  return found;
}

/** A file of the very size that git keeps lost nothing on its way in, and so is what git keeps. */
async function ofOtherSize(
  plumbing: Plumbing,
  root: string,
  entries: readonly Entry[],
): Promise<readonly BytePath[]> {
  if (entries.length === 0) return [];
  const names = entries.map(({ oid }) => `${oid}\n`).join("");
  const args = ["cat-file", "--batch-check=%(objectsize)", "--buffer"];
  const sizes = (await plumbing.tell("read sizes", args, names)).split("\n");
  const isOther = ({ path }: Entry, at: number): boolean =>
    String(lstatSync(placeOf(root, path), { throwIfNoEntry: false })?.size) !== sizes[at];
  return entries.filter(isOther).map(({ path }) => path);
}
