import { AoError, errorMessage } from "../../domain/errors.ts";
import { isoTime } from "../../domain/iso-time.ts";
import { filesToPrune, type TranscriptPaths } from "../../domain/transcript/names.ts";
import type { Fence } from "../../ports/fence.ts";
import type { TranscriptFiles } from "../../ports/transcript-files.ts";
import type { PrunedTranscript, Trash } from "../../ports/transcript-results.ts";
import { encodeLine } from "./bytes.ts";
import type { TranscriptContext } from "./context.ts";
import { sizeOf } from "./read-file.ts";
import { withWriter, writeAll } from "./write-file.ts";

interface Pruning {
  readonly to: Trash;
  /** Asked before anything is changed, and once more right before the files are moved. */
  readonly mayGo: Fence | undefined;
}

/**
 * Moves a transcript that its lock is held of into a trash folder. The audit has `pruning` before anything is moved,
 * and `pruned` once all of it is in the trash.
 */
export async function pruneTranscript(
  context: TranscriptContext,
  paths: TranscriptPaths,
  { to, mayGo }: Pruning,
): Promise<PrunedTranscript> {
  const { files, clock } = context;
  const { folder } = paths;
  const there = filesToPrune(paths, await files.list(folder));
  if (there.length === 0) return { files: [], bytes: 0 };
  const sizes = await Promise.all(there.map((name) => sizeOf(files, `${folder}/${name}`)));
  const pruned = { files: there, bytes: sizes.reduce((sum, bytes) => sum + bytes, 0) };
  mayGo?.();
  await writeDown(context, to, { event: "pruning", folder, ...pruned });
  await files.makeFolder(to.folder);
  mayGo?.();
  await moveAll(
    files,
    there.map((name) => ({
      from: `${folder}/${name}`,
      to: `${to.folder}/${name}.${clock.nowMs()}.pruned`,
    })),
  );
  await files.fsyncFolder(to.folder);
  await files.fsyncFolder(folder);
  await writeDown(context, to, { event: "pruned", folder, ...pruned });
  return pruned;
}

interface Move {
  readonly from: string;
  readonly to: string;
}

/**
 * Moves all files or none: what was moved before one that cannot be is put back.
 *
 * @throws AoError data_dir_unusable with what stands where.
 */
async function moveAll(files: TranscriptFiles, moves: readonly Move[]): Promise<void> {
  const moved: Move[] = [];
  for (const move of moves) {
    try {
      await files.rename(move.from, move.to);
      moved.push(move);
    } catch (error) {
      throw notMoved(move, error, await putBack(files, moved));
    }
  }
}

/** @returns those that could not be put back. */
async function putBack(files: TranscriptFiles, moved: readonly Move[]): Promise<readonly Move[]> {
  const left: Move[] = [];
  for (const move of moved.toReversed()) {
    await files.rename(move.to, move.from).catch(() => left.push(move));
  }
  return left;
}

function notMoved({ from }: Move, cause: unknown, left: readonly Move[]): AoError {
  const stands =
    left.length === 0
      ? "nothing was pruned, and every file is where it was"
      : `in the trash are already ${left.map(({ to }) => to).join(", ")}, all else is where it was`;
  const message = `${from} cannot be moved to the trash (${errorMessage(cause)}): ${stands}`;
  return new AoError("data_dir_unusable", message, {
    details: { path: from, inTrash: left.map(({ to }) => to) },
  });
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

/** Deletes what was pruned before a moment; the audit has `deleting` before, and `deleted` when all is gone. */
export async function emptyTrash(
  context: TranscriptContext,
  from: Trash,
  beforeMs: number,
): Promise<readonly string[]> {
  const { files } = context;
  const old = (await files.list(from.folder)).filter((name) => (prunedAtMs(name) ?? beforeMs) < beforeMs);
  if (old.length === 0) return old;
  await writeDown(context, from, { event: "deleting", folder: from.folder, files: old });
  for (const name of old) await files.unlink(`${from.folder}/${name}`);
  await files.fsyncFolder(from.folder);
  await writeDown(context, from, { event: "deleted", folder: from.folder, files: old });
  return old;
}
