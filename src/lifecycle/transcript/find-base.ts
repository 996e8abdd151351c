import type { TranscriptChain } from "../../domain/transcript/chain.ts";
import { EMPTY_DIGEST } from "../../domain/transcript/digest.ts";
import type { TranscriptBase } from "../../domain/transcript/ledger.ts";
import type { TranscriptPaths } from "../../domain/transcript/names.ts";
import type { OpenFile } from "../../ports/transcript-files.ts";
import type { TranscriptContext } from "./context.ts";
import { type LinePlace, replayPlaces } from "./open-log.ts";
import { withFile } from "./read-file.ts";

/** What a writer stands on: so many messages of what it last read or saved. */
export interface Footing {
  readonly base: TranscriptBase | null;
  readonly keep: number;
}

/**
 * The transcript of an open log as it was when a writer read or saved it; `undefined` when the log does not
 * go back so far.
 */
export async function replayToBase(
  context: TranscriptContext,
  paths: TranscriptPaths,
  file: OpenFile,
  base: TranscriptBase,
): Promise<TranscriptChain<LinePlace> | undefined> {
  const isBase = ({ count, digest }: Pick<TranscriptBase, "count" | "digest">) =>
    count === base.count && digest === base.digest;
  const replayed = await replayPlaces(context, paths, file, isBase);
  if (replayed.kind === "refused") return undefined;
  const { chain } = replayed.replay;
  return isBase(chain.head()) ? chain : undefined;
}

/** Digest of the messages that a writer keeps of its base; `undefined` when that is not known any more. */
export async function findBase(
  context: TranscriptContext,
  paths: TranscriptPaths,
  { base, keep }: Footing,
): Promise<{ readonly count: number; readonly digest: string } | undefined> {
  if (base === null || keep === 0) return { count: 0, digest: EMPTY_DIGEST };
  if (keep === base.count) return { count: keep, digest: base.digest };
  const chain = await withFile(context.files, paths.log, (file) => replayToBase(context, paths, file, base));
  const digest = chain?.digestAt(keep);
  return digest === undefined ? undefined : { count: keep, digest };
}
