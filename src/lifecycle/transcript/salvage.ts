import type { TranscriptPaths } from "../../domain/transcript/names.ts";
import type { OpenFile, TranscriptFiles } from "../../ports/transcript-files.ts";
import { encode, isSame } from "./bytes.ts";
import type { TranscriptContext } from "./context.ts";
import type { OpenLog } from "./open-log.ts";
import { readChunks, withFile } from "./read-file.ts";
import { withWriter, writeAll } from "./write-file.ts";

/** Whether a file ends with the bytes of another from `from` on, and a line feed. */
async function endsWith(salvage: OpenFile, source: OpenFile, from: number): Promise<boolean> {
  const bytes = source.sizeBytes - from;
  const start = salvage.sizeBytes - bytes - 1;
  if (start < 0) return false;
  let at = start;
  for await (const chunk of readChunks(source, from, source.sizeBytes)) {
    if (!isSame(chunk, await salvage.read(at, chunk.length))) return false;
    at += chunk.length;
  }
  return isSame(await salvage.read(at, 1), encode("\n"));
}

async function hasSalvaged(
  files: TranscriptFiles,
  paths: TranscriptPaths,
  source: OpenFile,
  from: number,
): Promise<boolean> {
  const found = await withFile(files, paths.salvage, (salvage) => endsWith(salvage, source, from));
  return found ?? false;
}

/** Keeps the bytes of a log from `from` on: `salvageFile`. */
export function salvageFrom(
  context: TranscriptContext,
  paths: TranscriptPaths,
  from: number,
): Promise<number> {
  return salvageFile(context, paths, { path: paths.log, from });
}

/**
 * Keeps the bytes of a file from `from` on at the end of the salvage, durably. A salvage that was broken off is
 * done again; one that was finished is not.
 *
 * @returns how many bytes were kept.
 */
export async function salvageFile(
  { files }: TranscriptContext,
  paths: TranscriptPaths,
  { path, from }: { readonly path: string; readonly from: number },
): Promise<number> {
  const kept = await withFile(files, path, async (source) => {
    const isThere = await hasSalvaged(files, paths, source, from);
    await withWriter(files.append(paths.salvage), async (out) => {
      if (!isThere) {
        for await (const chunk of readChunks(source, from, source.sizeBytes)) await writeAll(out, chunk);
        await writeAll(out, encode("\n"));
      }
      await out.fsync();
    });
    await files.fsyncFolder(paths.folder);
    return source.sizeBytes - from;
  });
  return kept ?? 0;
}

/** Keeps lines that are about to be cut from a transcript at the end of the salvage, durably. */
export async function salvageLines(
  { files }: TranscriptContext,
  paths: TranscriptPaths,
  bytes: Uint8Array,
): Promise<void> {
  await withWriter(files.append(paths.salvage), async (out) => {
    await writeAll(out, bytes);
    await out.fsync();
  });
  await files.fsyncFolder(paths.folder);
}

/** Cuts a torn end off a log, after it was salvaged: what is appended must not stand behind half a line. */
export async function cutTornTail(
  context: TranscriptContext,
  paths: TranscriptPaths,
  log: OpenLog,
): Promise<{ readonly log: OpenLog; readonly salvagedBytes: number }> {
  if (log.sizeBytes === log.endBytes) return { log, salvagedBytes: 0 };
  const salvagedBytes = await salvageFrom(context, paths, log.endBytes);
  await context.files.truncate(paths.log, log.endBytes);
  return { log: { ...log, sizeBytes: log.endBytes }, salvagedBytes };
}
