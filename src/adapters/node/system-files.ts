import { randomUUID } from "node:crypto";
import { lstat, open, readdir, readFile, realpath, rename, rm, rmdir } from "node:fs/promises";
import { dirname, isAbsolute, join, relative, resolve } from "node:path";
import { draftName, isDraftName } from "../../domain/draft-name.ts";
import { hasErrorCode } from "../../domain/error-code.ts";
import { AoError } from "../../domain/errors.ts";
import type { Files } from "../../ports/files.ts";
import { makeFolder } from "./make-folder.ts";

const isNothingThere = (error: unknown) => hasErrorCode(error, "ENOENT", "ENOTDIR");

/** Runs `work`; its failure is `data_dir_unusable`, or `undefined` when it is that nothing is there. */
async function ifThere<Result>(what: string, work: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await work();
  } catch (error) {
    if (isNothingThere(error)) return undefined;
    throw unusable(what, error);
  }
}

function unusable(what: string, cause: unknown): AoError {
  if (cause instanceof AoError) return cause;
  return new AoError("data_dir_unusable", `cannot ${what}`, {
    hint: "check the permissions and the free space of the data directory, or set AO_DATA_DIR to another one",
    cause,
  });
}

async function sync(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

async function writeDraft(path: string, content: string): Promise<void> {
  const file = await open(path, "wx", 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function replace(path: string, content: string): Promise<void> {
  const folder = dirname(path);
  await makeFolder(folder);
  const draft = draftName(path, randomUUID());
  try {
    await writeDraft(draft, content);
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true }).catch(() => undefined);
    throw error;
  }
  await sync(folder);
}

function unsafe(why: string, path: string): AoError {
  return new AoError("workspace_unsafe_path", `will not remove ${why}: ${path}`, {
    hint: "look where it leads and remove it yourself",
    details: { path },
  });
}

/** Where a file stands, and the only folder below which anything is removed. */
interface Place {
  readonly dataDir: string;
  readonly path: string;
}

async function removeTree({ dataDir, path }: Place): Promise<void> {
  const below = relative(dataDir, path);
  const isOutside = below === "" || below.split("/")[0] === ".." || isAbsolute(below);
  if (isOutside) throw unsafe("outside the data directory", path);
  const entry = await lstat(path);
  const folder = await realpath(dirname(path));
  const isThere = folder === join(await realpath(dataDir), dirname(below));
  if (entry.isSymbolicLink() || !isThere) throw unsafe("through a link", path);
  await rm(path, { recursive: true, force: true, maxRetries: 3, retryDelay: 50 });
}

async function removeEmptyFolder(path: string): Promise<void> {
  try {
    await rmdir(path);
  } catch (error) {
    if (!hasErrorCode(error, "ENOTEMPTY", "EEXIST", "ENOTDIR")) throw error;
  }
}

/** A draft that is gone before it was looked at is in its place by now. */
async function removeDrafts(folder: string, beforeMs: number): Promise<void> {
  for (const name of (await readdir(folder)).filter(isDraftName)) {
    const path = join(folder, name);
    const entry = await lstat(path).catch(() => undefined);
    if (entry?.isFile() && entry.mtimeMs < beforeMs) await rm(path, { force: true });
  }
}

/** Files on disk, removed only below `dataDir`, an absolute path. What was written is durable when `write` resolves. */
export function systemFiles({ dataDir }: { readonly dataDir: string }): Files {
  return {
    async write(path, content) {
      try {
        await replace(path, content);
      } catch (error) {
        throw unusable(`write ${path}`, error);
      }
    },
    read: (path) => ifThere(`read ${path}`, () => readFile(path, "utf8")),
    exists: async (path) => (await ifThere(`look at ${path}`, () => lstat(path))) !== undefined,
    names: async (folder) => (await ifThere(`read ${folder}`, () => readdir(folder))) ?? [],
    removeTree: (path) =>
      ifThere(`remove ${path}`, () => removeTree({ dataDir: resolve(dataDir), path: resolve(path) })),
    removeEmptyFolder: (path) => ifThere(`remove ${path}`, () => removeEmptyFolder(resolve(path))),
    removeDrafts: (folder, beforeMs) => ifThere(`tidy ${folder}`, () => removeDrafts(folder, beforeMs)),
  };
}
