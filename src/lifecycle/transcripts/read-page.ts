import type { SessionId } from "../../domain/ids.ts";
import { EMPTY_HEAD, type MessageRange, type TranscriptHead } from "../../domain/transcript/chain.ts";
import type { NumberedMessage, TranscriptReader } from "../../ports/transcript-store.ts";
import type { SessionDeps } from "../deps.ts";
import { requireSession } from "../session-refs.ts";
import { readWhole } from "./read-whole.ts";
import { refusalError, refuseRemoved } from "./transcript-ref.ts";

type Deps = Pick<SessionDeps, "store" | "transcripts" | "dataDir">;

/** Some messages of a transcript, and what it is as a whole. */
export interface TranscriptPage {
  readonly head: TranscriptHead;
  readonly savedAtMs: number | null;
  readonly gaps: readonly MessageRange[];
  readonly isDamaged: boolean;
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
  ...{ head: EMPTY_HEAD, savedAtMs: null, gaps: [], isDamaged: false },
  ...{ messages: [], next: null },
};

/**
 * A page of what `ao` has recorded of a session; an empty one of an empty transcript when that is nothing.
 *
 * @throws AoError session_not_found, transcript_not_found, transcript_damaged, store_newer or data_dir_unusable
 */
export async function readPage(deps: Deps, id: SessionId, options: PageOptions): Promise<TranscriptPage> {
  return (await readWith(deps, id, (reader) => pageOf(reader, options))) ?? EMPTY_PAGE;
}

async function pageOf(reader: TranscriptReader, { first, limit }: PageOptions): Promise<TranscriptPage> {
  const { head, savedAtMs, gaps, damage } = reader;
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
  return { head, savedAtMs, gaps, isDamaged: damage.length > 0 || gaps.length > 0, messages, next };
}

/** Hands every message of a session to `put`, one at a time. False when nothing was recorded. */
export async function forEachMessage(
  deps: Deps,
  id: SessionId,
  put: (message: NumberedMessage) => Promise<void>,
): Promise<boolean> {
  const done = await readWith(deps, id, async (reader) => {
    for await (const message of reader.messages(0)) await put(message);
    return true;
  });
  return done ?? false;
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
