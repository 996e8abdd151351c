import type { TranscriptHead } from "../../domain/transcript/chain.ts";
import {
  type CheckpointContent,
  decideSource,
  isCut,
  type Source,
  type SourceFacts,
} from "../../domain/transcript/decide-source.ts";
import { parseLedger } from "../../domain/transcript/ledger.ts";
import type { TranscriptPaths } from "../../domain/transcript/names.ts";
import type { Refused } from "../../ports/transcript-results.ts";
import type { TranscriptContext } from "./context.ts";
import { readCheckpoint } from "./read-checkpoint.ts";
import { readSidecar } from "./read-file.ts";

/**
 * Where the messages of a transcript are. The checkpoint is read only when the log does not settle that.
 *
 * @param head of the log; `null` when it has no record of this transcript.
 */
export async function findSource(
  context: TranscriptContext,
  paths: TranscriptPaths,
  head: TranscriptHead | null,
): Promise<Source> {
  const parsed = parseLedger(await readSidecar(context.files, paths.ledger), paths.owner);
  return sourceOf(context, paths, { head, committed: committedOf(parsed) });
}

/** Likewise, with a ledger that was read already. */
export async function sourceOf(
  context: TranscriptContext,
  paths: TranscriptPaths,
  facts: Omit<SourceFacts, "held">,
): Promise<Source> {
  const { head, committed } = facts;
  const onRecord = committed === "foreign" ? null : committed;
  const isSettled = head !== null && (onRecord === null || !isCut(head, onRecord));
  const held = isSettled ? undefined : await readCheckpoint(context, paths, onRecord?.count);
  return decideSource({ ...facts, held: withMessages(held) });
}

/** A checkpoint without a message is none. */
export function withMessages(held: CheckpointContent | undefined): CheckpointContent | null {
  return held === undefined || held.count === 0 ? null : held;
}

/** What a ledger has on record. */
export function committedOf(parsed: ReturnType<typeof parseLedger>): SourceFacts["committed"] {
  switch (parsed.kind) {
    case "ledger":
      return parsed.ledger.committed;
    case "foreign":
      return "foreign";
    default:
      return null;
  }
}

/** Why a transcript is refused whose only content is a checkpoint of another. */
export function foreignCheckpoint({ checkpoint: path }: TranscriptPaths): Refused {
  return { kind: "refused", refusal: { reason: "foreign", path } };
}
