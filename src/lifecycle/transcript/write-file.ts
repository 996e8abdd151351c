import { draftOf } from "../../domain/transcript/names.ts";
import type { FileWriter, TranscriptFiles } from "../../ports/transcript-files.ts";
import { concat, encode } from "./bytes.ts";

/** Writes all bytes, in as many pieces as the system takes them. */
export async function writeAll(out: FileWriter, bytes: Uint8Array): Promise<void> {
  for (let rest = bytes; rest.length > 0; ) rest = rest.subarray(await out.write(rest));
}

/** Bytes that are collected before they are written. */
const BUFFER_BYTES = 256 * 1024;

/** Collects small pieces, so that many of them are one write. */
export interface BufferedWriter {
  /** Bytes that were put in, written or not. */
  sizeBytes(): number;
  put(bytes: Uint8Array): Promise<void>;
  flush(): Promise<void>;
}

export function bufferedWriter(out: FileWriter): BufferedWriter {
  let parts: Uint8Array[] = [];
  let pending = 0;
  let sizeBytes = 0;
  const flush = async () => {
    const bytes = concat(parts);
    parts = [];
    pending = 0;
    await writeAll(out, bytes);
  };
  return {
    sizeBytes: () => sizeBytes,
    async put(bytes) {
      parts.push(bytes);
      pending += bytes.length;
      sizeBytes += bytes.length;
      if (pending >= BUFFER_BYTES) await flush();
    },
    flush,
  };
}

/** Makes the folder of a transcript, and the one of all folders, durably, whoever made them first. */
export async function makeFolders(files: TranscriptFiles, folder: string): Promise<void> {
  await files.makeFolder(folder.slice(0, folder.lastIndexOf("/")));
  await files.makeFolder(folder);
}

/** Opens a file for `work` and closes it, whatever happens. */
export async function withWriter<Result>(
  opening: Promise<FileWriter>,
  work: (out: FileWriter) => Promise<Result>,
): Promise<Result> {
  const out = await opening;
  try {
    return await work(out);
  } finally {
    await out.close();
  }
}

/** Does what can be done about a failure; a second one must not hide it. */
export async function attempt(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch {
    // What is left behind is found, and dealt with, by the next who looks.
  }
}

/**
 * Puts a file in the place of another, so that a reader has the old or the new one. Durable when it resolves.
 *
 * @param fill writes the new one.
 */
export async function replaceFile<Result>(
  files: TranscriptFiles,
  { folder, path }: { readonly folder: string; readonly path: string },
  fill: (out: FileWriter) => Promise<Result>,
): Promise<Result> {
  const draft = draftOf(path);
  let result: Result;
  try {
    result = await withWriter(files.create(draft), async (out) => {
      const filled = await fill(out);
      await out.fsync();
      return filled;
    });
    await files.rename(draft, path);
  } catch (error) {
    await attempt(() => files.unlink(draft));
    throw error;
  }
  await files.fsyncFolder(folder);
  return result;
}

/** Likewise for a file that may be lost: nothing waits for the disk. */
export async function replaceLazily(files: TranscriptFiles, path: string, text: string): Promise<void> {
  const draft = draftOf(path);
  await withWriter(files.create(draft), (out) => writeAll(out, encode(text)));
  await files.rename(draft, path);
}
