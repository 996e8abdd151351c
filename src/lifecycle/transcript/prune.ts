import { isoTime } from "../../domain/iso-time.ts";
import { filesToPrune, type TranscriptPaths } from "../../domain/transcript/names.ts";
import type { PrunedTranscript, Trash } from "../../ports/transcript-store.ts";
import { encodeLine } from "./bytes.ts";
import type { TranscriptContext } from "./context.ts";
import { sizeOf } from "./read-file.ts";
import { withWriter, writeAll } from "./write-file.ts";

/** Moves a transcript that its lock is held of into a trash folder. */
export async function pruneTranscript(
  context: TranscriptContext,
  paths: TranscriptPaths,
  to: Trash,
): Promise<PrunedTranscript> {
  const { files, clock } = context;
  const { folder } = paths;
  const there = filesToPrune(paths, await files.list(folder));
  if (there.length === 0) return { files: [], bytes: 0 };
  const sizes = await Promise.all(there.map((name) => sizeOf(files, `${folder}/${name}`)));
  const pruned = { files: there, bytes: sizes.reduce((sum, bytes) => sum + bytes, 0) };
  await writeDown(context, to, { event: "pruned", folder, ...pruned });
  await files.makeFolder(to.folder);
  for (const name of there) {
    await files.rename(`${folder}/${name}`, `${to.folder}/${name}.${clock.nowMs()}.pruned`);
  }
  await files.fsyncFolder(to.folder);
  await files.fsyncFolder(folder);
  return pruned;
}

async function writeDown({ files, clock }: TranscriptContext, { audit }: Trash, what: object): Promise<void> {
  const folder = audit.slice(0, audit.lastIndexOf("/"));
  const line = encodeLine(JSON.stringify({ at: isoTime(clock.nowMs()), ...what }));
  await files.makeFolder(folder);
  await withWriter(files.append(audit), async (out) => {
    await writeAll(out, line);
    await out.fsync();
  });
  await files.fsyncFolder(folder);
}

/** When a file of a trash folder was pruned, Unix milliseconds; `undefined` when it was not. */
function prunedAtMs(name: string): number | undefined {
  const [, time] = /\.(\d{1,15})\.pruned$/.exec(name) ?? [];
  return time === undefined ? undefined : Number(time);
}

/** Deletes what was pruned before a moment. */
export async function emptyTrash(
  context: TranscriptContext,
  from: Trash,
  beforeMs: number,
): Promise<readonly string[]> {
  const { files } = context;
  const old = (await files.list(from.folder)).filter((name) => (prunedAtMs(name) ?? beforeMs) < beforeMs);
  if (old.length === 0) return old;
  await writeDown(context, from, { event: "deleted", folder: from.folder, files: old });
  for (const name of old) await files.unlink(`${from.folder}/${name}`);
  await files.fsyncFolder(from.folder);
  return old;
}
