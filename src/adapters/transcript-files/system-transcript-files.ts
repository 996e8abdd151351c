import { constants, type Stats } from "node:fs";
import { type FileHandle, mkdir, open, readdir, rename, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import { AoError, errorMessage } from "../../domain/errors.ts";
import type { FileWriter, OpenFile, TranscriptFiles } from "../../ports/transcript-files.ts";

const { O_RDONLY, O_WRONLY, O_CREAT, O_TRUNC, O_APPEND, O_NOFOLLOW, O_NONBLOCK } = constants;

const MODE = { file: 0o600, folder: 0o700 } as const;

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}

function unusable(what: string, cause: unknown): AoError {
  if (cause instanceof AoError) return cause;
  return new AoError("data_dir_unusable", `cannot ${what}: ${errorMessage(cause)}`, {
    hint: "check the permissions and the free space of the data directory",
    cause,
  });
}

/** Runs one call of the system; its failure is `data_dir_unusable`. */
async function calling<Result>(what: string, call: () => Promise<Result>): Promise<Result> {
  try {
    return await call();
  } catch (error) {
    throw unusable(what, error);
  }
}

/** `undefined` when what it is about is not there. */
async function ifThere<Result>(what: string, call: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await call();
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw unusable(what, error);
  }
}

/** A close that fails loses nothing that `fsync` made durable. */
function closing(handle: FileHandle): () => Promise<void> {
  let isOpen = true;
  return async () => {
    if (!isOpen) return;
    isOpen = false;
    await handle.close().catch(() => undefined);
  };
}

async function openToRead(path: string): Promise<OpenFile | undefined> {
  // A named pipe would be waited for without end.
  const handle = await ifThere(`read ${path}`, () => open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
  if (handle === undefined) return undefined;
  const close = closing(handle);
  try {
    const stats: Stats = await calling(`read ${path}`, () => handle.stat());
    if (!stats.isFile()) throw new AoError("data_dir_unusable", `cannot read ${path}: not a file`);
    return {
      sizeBytes: stats.size,
      close,
      read: (offset, maxBytes) => readAt(handle, path, offset, maxBytes),
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function readAt(
  handle: FileHandle,
  path: string,
  offset: number,
  maxBytes: number,
): Promise<Uint8Array> {
  const bytes = Buffer.allocUnsafe(maxBytes);
  let filled = 0;
  while (filled < maxBytes) {
    const at = filled;
    const { bytesRead } = await calling(`read ${path}`, () =>
      handle.read(bytes, at, maxBytes - at, offset + at),
    );
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return bytes.subarray(0, filled);
}

async function openToWrite(path: string, flag: number): Promise<FileWriter> {
  const flags = O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | flag;
  const handle = await calling(`write ${path}`, () => open(path, flags, MODE.file));
  const close = closing(handle);
  try {
    // A file of an earlier version, or of a careless copy, may be open to others.
    await calling(`write ${path}`, () => handle.chmod(MODE.file));
  } catch (error) {
    await close();
    throw error;
  }
  return {
    close,
    write: async (bytes) => (await calling(`write ${path}`, () => handle.write(bytes))).bytesWritten,
    fsync: () => calling(`write ${path} through to the disk`, () => handle.sync()),
  };
}

async function truncate(path: string, sizeBytes: number): Promise<void> {
  await calling(`cut ${path}`, async () => {
    const handle = await open(path, O_WRONLY | O_NOFOLLOW);
    try {
      await handle.truncate(sizeBytes);
    } finally {
      await handle.close();
    }
  });
}

async function fsyncFolder(folder: string): Promise<void> {
  await calling(`write ${folder} through to the disk`, async () => {
    const handle = await open(folder, O_RDONLY);
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  });
}

async function makeFolder(folder: string): Promise<void> {
  const error = await mkdir(folder, { mode: MODE.folder }).then(
    () => undefined,
    (cause: unknown) => cause,
  );
  const code = error === undefined ? undefined : codeOf(error);
  // Whoever made it may have died before its name was durable.
  if (error === undefined || code === "EEXIST") return fsyncFolder(dirname(folder));
  if (code !== "ENOENT" || dirname(folder) === folder) throw unusable(`make ${folder}`, error);
  await makeFolder(dirname(folder));
  await makeFolder(folder);
}

async function list(folder: string): Promise<readonly string[]> {
  const entries = await ifThere(`read ${folder}`, () => readdir(folder, { withFileTypes: true }));
  return (entries ?? []).filter((entry) => entry.isFile()).map(({ name }) => name);
}

/** The files of this machine: each call of the port is a call of the system. */
export function systemTranscriptFiles(): TranscriptFiles {
  return {
    open: openToRead,
    append: (path) => openToWrite(path, 0),
    create: (path) => openToWrite(path, O_TRUNC),
    truncate,
    rename: (from, to) => calling(`write ${to}`, () => rename(from, to)),
    unlink: async (path) => void (await ifThere(`remove ${path}`, () => unlink(path))),
    fsyncFolder,
    makeFolder,
    list,
  };
}
