import { lstatSync } from "node:fs";
import { join, resolve } from "node:path";
import { type BytePath, placeOf, textOf } from "./byte-path.ts";
import type { IndexEntry } from "./index-file.ts";
import type { Plumbing } from "./plumbing.ts";

type Entry = Pick<IndexEntry, "path" | "oid">;

/** What git has of a file whose content Git LFS keeps (git-lfs-pointer(1), its specification of version 1). */
const POINTER =
  /^version https:\/\/git-lfs\.github\.com\/spec\/v1\n(?:ext-[^\n]*\n)*oid sha256:([0-9a-f]{64})\nsize (\d+)\n$/;

/**
 * Those files of the filter `lfs` whose content is not in the store of Git LFS. A file that is a pointer itself is
 * there as git has it.
 */
export async function notHeldByLfs(
  plumbing: Plumbing,
  root: string,
  entries: readonly Entry[],
): Promise<readonly BytePath[]> {
  if (entries.length === 0) return [];
  const objects = await objectsFolder(plumbing);
  const contents = await pointersOf(plumbing, entries);
  const isHeld = ({ path, oid }: Entry): boolean => {
    const size = sizeOf(placeOf(root, path));
    const content = contents.get(oid);
    const [, name, told] = POINTER.exec(content ?? "") ?? [];
    if (name === undefined) return false;
    if (size === content?.length) return true;
    const object = join(objects, name.slice(0, 2), name.slice(2, 4), name);
    return size === Number(told) && sizeOf(object) === size;
  };
  return entries.filter((entry) => !isHeld(entry)).map(({ path }) => path);
}

function sizeOf(path: Buffer | string): number | undefined {
  const entry = lstatSync(path, { throwIfNoEntry: false });
  return entry?.isFile() === true ? entry.size : undefined;
}

/** git-lfs-config(5), `lfs.storage` */
async function objectsFolder(plumbing: Plumbing): Promise<string> {
  const { stdout } = await plumbing.ask(["config", "--path", "--get", "lfs.storage"]);
  const storage = textOf(stdout.replace(/\n$/, ""));
  return join(resolve(plumbing.commonDir, storage === "" ? "lfs" : storage), "objects");
}

/** Contents that are small enough for a pointer, by their name. */
async function pointersOf(
  plumbing: Plumbing,
  entries: readonly Entry[],
): Promise<ReadonlyMap<string, string>> {
  const oids = [...new Set(entries.map(({ oid }) => oid))];
  const args = ["cat-file", "--buffer", "--batch-check=%(objectname) %(objectsize)"];
  const sizes = await plumbing.tell("read sizes", args, lines(oids));
  const small = sizes.split("\n").flatMap((line) => {
    const [oid = "", size = ""] = line.split(" ");
    return /^\d+$/.test(size) && Number(size) <= MAX_POINTER_BYTES ? [{ oid, size: Number(size) }] : [];
  });
  const names = lines(small.map(({ oid }) => oid));
  const text =
    small.length === 0
      ? ""
      : await plumbing.tell("read pointers", ["cat-file", "--batch=", "--buffer"], names);
  const found = new Map<string, string>();
  let at = 0;
  for (const { oid, size } of small) {
    found.set(oid, text.slice(at + 1, at + 1 + size));
    at += size + 2;
  }
  return found;
}

const MAX_POINTER_BYTES = 1024;

const lines = (names: readonly string[]): string => names.map((name) => `${name}\n`).join("");
