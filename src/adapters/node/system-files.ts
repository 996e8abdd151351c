import { randomUUID } from "node:crypto";
import { lstat, open, readdir, readFile, rename, rm, rmdir } from "node:fs/promises";
import { dirname, resolve } from "node:path";
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
  const draft = `${path}.${randomUUID()}.tmp`;
  try {
    await writeDraft(draft, content);
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  await sync(folder);
}

async function removeTree(path: string): Promise<void> {
  const root = await lstat(path);
  if (root.isSymbolicLink()) {
    throw new AoError("workspace_unsafe_path", `will not remove through a link: ${path}`, {
      hint: "look where the link leads and remove it yourself",
    });
  }
  await rm(path, { recursive: true, force: true, maxRetries: 3, retryDelay: 50 });
}

async function removeEmptyFolder(path: string): Promise<void> {
  try {
    await rmdir(path);
  } catch (error) {
    if (!hasErrorCode(error, "ENOTEMPTY", "EEXIST", "ENOTDIR")) throw error;
  }
}

/** Files on disk. What was written is durable when `write` resolves. */
export function systemFiles(): Files {
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
    removeTree: (path) => ifThere(`remove ${path}`, () => removeTree(resolve(path))),
    removeEmptyFolder: (path) => ifThere(`remove ${path}`, () => removeEmptyFolder(resolve(path))),
  };
}
