import type { SessionId } from "../../domain/ids.ts";
import { EMPTY_HEAD, type MessageRange, type TranscriptHead } from "../../domain/transcript/chain.ts";
import type { Health, NumberedMessage, TranscriptReader } from "../../ports/transcript-results.ts";
import type { SessionDeps } from "../deps.ts";
import { requireSession } from "../session-refs.ts";
import { readWhole } from "./read-whole.ts";
import { type TurnInFlightJson, turnInFlightJson } from "./summarize-transcript.ts";
import { refusalError, refuseRemoved, transcriptRef } from "./transcript-ref.ts";

type Deps = Pick<SessionDeps, "store" | "transcripts" | "dataDir">;

/** Some messages of a transcript, and what it is as a whole. */
export interface TranscriptPage {
  readonly head: TranscriptHead;
  readonly savedAtMs: number | null;
  readonly gaps: readonly MessageRange[];
  /** As `verify` names it, by what was read: files beside the log are not looked at. */
  readonly health: Extract<Health, "healthy" | "stale" | "damaged" | "missing">;
  /** Messages that are known to have been there and cannot be read. */
  readonly missing: number;
  /** Where what was cut off in a repair is kept; `null` when there is none. */
  readonly salvage: { readonly path: string; readonly bytes: number } | null;
  /** A turn that has begun, and whose end was not saved; `null` for none. */
  readonly turnInFlight: TurnInFlightJson | null;
  readonly messages: readonly NumberedMessage[];
  /** Index of the first message behind the page; `null` at the end. */
  readonly next: number | null;
}

export interface PageOptions {
  /** Index of the first message; `null` for the last page. */
  readonly first: number | null;
  readonly limit: number;
}

const EMPTY_PAGE: TranscriptPage = {
  ...{ head: EMPTY_HEAD, savedAtMs: null, gaps: [], health: "missing", missing: 0 },
  ...{ salvage: null, turnInFlight: null, messages: [], next: null },
};

/**
 * A page of what `ao` has recorded of a session; an empty one of an empty transcript when that is nothing.
 *
 * @throws AoError session_not_found, transcript_not_found, transcript_damaged, store_newer or data_dir_unusable
 */
export async function readPage(deps: Deps, id: SessionId, options: PageOptions): Promise<TranscriptPage> {
  const page = await readWith(deps, id, (reader) => pageOf(reader, options));
  const record = requireSession(deps, id);
  const ref = transcriptRef(deps, record);
  const salvage = await deps.transcripts.salvage(ref);
  const turn = await deps.transcripts.turnInFlight(ref);
  return { ...(page ?? EMPTY_PAGE), salvage, turnInFlight: turnInFlightJson(turn) };
}

/** What of a transcript can be read, and what cannot. */
function conditionOf({ from, gaps, damage, lost }: TranscriptReader): Condition {
  const missing = gaps.reduce((sum, { count }) => sum + count, lost);
  if (damage.length > 0 || missing > 0) return { health: "damaged", missing };
  return { health: from === "log" ? "healthy" : "stale", missing };
}

type Condition = Pick<TranscriptPage, "health" | "missing">;

async function pageOf(
  reader: TranscriptReader,
  { first, limit }: PageOptions,
): Promise<Omit<TranscriptPage, "salvage" | "turnInFlight">> {
  const { head, savedAtMs, gaps } = reader;
  const from = first ?? Math.max(0, head.count - limit);
  const messages: NumberedMessage[] = [];
  let next: number | null = null;
  for await (const message of reader.messages(from)) {
    if (messages.length === limit) {
      next = message.index;
      break;
    }
    messages.push(message);
  }
  return { head, savedAtMs, gaps, ...conditionOf(reader), messages, next };
}

/** Hands every message of a session to `put`, one at a time. What could be read; `null` when nothing was recorded. */
export async function forEachMessage(
  deps: Deps,
  id: SessionId,
  put: (message: NumberedMessage) => Promise<void>,
): Promise<Condition | null> {
  return readWith(deps, id, async (reader) => {
    for await (const message of reader.messages(0)) await put(message);
    return conditionOf(reader);
  });
}

async function readWith<Result>(
  deps: Deps,
  id: SessionId,
  work: (reader: TranscriptReader) => Promise<Result>,
): Promise<Result | null> {
  const read = await readWhole(deps, requireSession(deps, id), work);
  switch (read.kind) {
    case "read":
      return read.result;
    case "refused":
      throw refusalError(id, read.refusal);
    case "missing":
      refuseRemoved(id, read.wasCommitted);
      return null;
  }
}
