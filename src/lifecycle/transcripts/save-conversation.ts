import { AoError } from "../../domain/errors.ts";
import type { SessionId } from "../../domain/ids.ts";
import type { TranscriptHead } from "../../domain/transcript/chain.ts";
import { NO_MESSAGES } from "../../domain/transcript/ledger.ts";
import {
  comparison,
  hasGap,
  type Lacking,
  mergeConversation,
  type ToldEntry,
} from "../../domain/transcript/merge-conversation.ts";
import type { TranscriptMessage } from "../../domain/transcript/message.ts";
import type { TranscriptRef } from "../../domain/transcript/names.ts";
import { runningTurn } from "../../domain/transcript/running-turn.ts";
import type { SaveResult } from "../../ports/transcript-results.ts";
import type { SessionDeps } from "../deps.ts";
import { savingTurn } from "./saving-turn.ts";
import { refusalError } from "./transcript-ref.ts";

/** What is to become part of the transcript of a session. */
export interface Conversation {
  readonly id: SessionId;
  readonly ref: TranscriptRef;
  /** What hooks told, and the log as far as it was read already. */
  readonly told: readonly ToldEntry[];
  /** The conversations of the session, oldest first. */
  readonly conversations: readonly string[];
  /** Nothing comes after what is told, so that a turn in flight is one that was broken off. */
  readonly isOver: boolean;
  /** Reads the agent's own log, where what was told leaves something out. */
  readonly log: () => Promise<readonly ToldEntry[]>;
}

type Deps = Pick<SessionDeps, "transcripts">;

/** How much of the end of a transcript is looked at before all of it. */
const WINDOW_MESSAGES = 200;

/** The end of a transcript, or all of it. */
interface Held {
  /** `null` when there is none. */
  readonly head: TranscriptHead | null;
  readonly messages: readonly TranscriptMessage[];
  /** All of it is there, and can be read. */
  readonly isWhole: boolean;
}

/**
 * Saves what was told of a conversation: each entry once, in order. When this resolves, all of it is durable,
 * also what another process wrote before. Saving the same again changes nothing.
 *
 * @throws AoError why it could not be saved: then nothing of it was, and it may be tried again.
 */
export async function saveConversation(deps: Deps, conversation: Conversation): Promise<void> {
  const end = await readHeld(deps, conversation, WINDOW_MESSAGES);
  const isMissing = hasGap({ held: end.messages, told: conversation.told });
  const told = isMissing ? [...conversation.told, ...(await conversation.log())] : conversation.told;
  const merged = mergeConversation({ ...conversation, told, held: end.messages });
  if (continues(merged, end.messages)) return append(deps, conversation, end, merged);
  const { entries, isChanged } = await lacking(deps, { ...conversation, told });
  // Most of what the end does not show was saved before it: then nothing else is read.
  const rest = mergeConversation({ ...conversation, told: entries, held: end.messages });
  if (!isChanged && continues(rest, end.messages)) return append(deps, conversation, end, rest);
  const all = await readHeld(deps, conversation, Number.POSITIVE_INFINITY);
  const whole = mergeConversation({ ...conversation, told, held: all.messages });
  if (continues(whole, all.messages)) return append(deps, conversation, all, whole);
  return replace(deps, conversation, all, whole);
}

/** Whether a transcript has all of a conversation already, and no turn in flight that is over. A pure read. */
export async function holdsAll(deps: Deps, conversation: Conversation): Promise<boolean> {
  if (conversation.isOver && (await deps.transcripts.turnInFlight(conversation.ref)) !== null) return false;
  if (conversation.told.length === 0) return true;
  const { entries, isChanged } = await lacking(deps, conversation);
  return entries.length === 0 && !isChanged;
}

/** What of it a transcript does not hold, which is read through without being held. */
async function lacking(deps: Deps, { id, ref, told }: Conversation): Promise<Lacking> {
  const compared = comparison(told);
  const read = await deps.transcripts.read(ref, async (reader) => {
    for await (const { message } of reader.messages(0)) compared.see(message);
  });
  if (read.kind === "refused") throw refusalError(id, read.refusal);
  return compared.lacking();
}

async function readHeld(deps: Deps, { id, ref }: Conversation, limit: number): Promise<Held> {
  const read = await deps.transcripts.end(ref, limit);
  switch (read.kind) {
    case "end":
      return read;
    case "missing":
      return { head: null, messages: [], isWhole: true };
    case "refused":
      throw refusalError(id, read.refusal);
  }
}

/** Whether all that is held stays as it is, and only something comes after it. */
function continues(merged: readonly TranscriptMessage[], held: readonly TranscriptMessage[]): boolean {
  return held.every((message, index) => merged[index] === message);
}

async function append(
  deps: Deps,
  conversation: Conversation,
  { head, messages: held }: Held,
  merged: readonly TranscriptMessage[],
): Promise<void> {
  const messages = merged.slice(held.length);
  const draft = { base: head, messages };
  const turn = { ...conversation, running: runningTurn(merged), final: { after: head, messages } };
  await savingTurn(deps, turn, async () => {
    if (head === null && messages.length === 0) return;
    // Also without a message: what another process wrote may not be durable yet.
    requireSaved(conversation.id, await deps.transcripts.saveSnapshot(conversation.ref, draft));
  });
}

/** Puts what came late into its place; the log keeps nothing of the old order, which says no more than the new. */
async function replace(
  deps: Deps,
  conversation: Conversation,
  { head, isWhole }: Held,
  messages: readonly TranscriptMessage[],
): Promise<void> {
  const { id, ref } = conversation;
  if (!isWhole) throw refusalError(id, { reason: "damaged", path: `${ref.folder}/${ref.name}` });
  const draft = { base: head, keep: NO_MESSAGES, messages, reason: "late" };
  const turn = { ...conversation, running: runningTurn(messages), final: { after: null, messages } };
  await savingTurn(deps, turn, async () =>
    requireSaved(id, await deps.transcripts.saveRewriteCompact(ref, draft)),
  );
}

function requireSaved(id: SessionId, result: SaveResult): void {
  switch (result.kind) {
    case "saved":
    case "unchanged":
      return;
    case "refused":
      throw refusalError(id, result.refusal);
    case "externally_removed":
      throw new AoError("transcript_not_found", `the files of the transcript of ${id} were removed`, {
        hint: `ao transcript repair ${id} lets a new one begin`,
      });
    case "conflict":
      throw new AoError("operation_in_progress", `another process wrote the transcript of ${id}`);
  }
}
