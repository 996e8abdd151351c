import type { ProjectId, SessionId, TurnId } from "./ids.ts";
import { isSent, type Message, type SentMessage } from "./message.ts";
import { isLiveTurn, type LiveTurn, type Turn, type TurnBirth } from "./turn.ts";
import { decideTurnTransition, type TurnTransition, turnConflict } from "./turn-transitions.ts";

/** What is known of the turns of one session, as far as the next event may change it. */
export interface TurnBook {
  readonly projectId: ProjectId;
  readonly sessionId: SessionId;
  readonly live: LiveTurn | undefined;
  /** The turn with the greatest sequence number. */
  readonly newest: Turn | undefined;
  /** Messages that may have arrived without a receipt, by number. */
  readonly sent: readonly SentMessage[];
}

/** What a rule of the book may ask. */
export interface BookContext {
  /** The turn of that id as it is stored. */
  find(turnId: TurnId): Turn | undefined;
  /** Whether a text that the agent tells of is the one that was sent. */
  isSameText(sent: string, heard: string): boolean;
  /** Whether somebody wants this turn to stop: then its interruption is a cancellation. */
  isCancelling(turnId: TurnId): boolean;
}

/** The next version of a turn or a message. */
export type BookChange =
  | { readonly kind: "turn"; readonly turn: Turn }
  | { readonly kind: "message"; readonly message: Message };

/** A book, and what was changed to come to it, in order. */
export interface BookPage {
  readonly book: TurnBook;
  readonly changes: readonly BookChange[];
}

/** A book before anything changed. */
export function openPage(book: TurnBook): BookPage {
  return { book, changes: [] };
}

/** The turn of an id as it stands on this page. */
export function turnOn({ changes }: BookPage, context: BookContext, turnId: TurnId): Turn | undefined {
  const changed = changes.findLast((change) => change.kind === "turn" && change.turn.turnId === turnId);
  return changed?.kind === "turn" ? changed.turn : context.find(turnId);
}

/** What happens to a turn; the birth is that of one that begins with it. */
export type TurnEntry = Pick<TurnTransition, "turnId" | "phase" | "occurredAtMs"> &
  Partial<Pick<TurnTransition, "outcome" | "error">> & {
    readonly birth: Pick<TurnBirth, "launchId"> & Partial<TurnBirth>;
  };

/**
 * The page after an event of a turn; the same when that is late or old.
 *
 * @throws AoError busy when another turn goes on.
 */
export function enterTurn(page: BookPage, context: BookContext, entry: TurnEntry): BookPage {
  const { projectId, sessionId, live, newest } = page.book;
  const birth: TurnBirth = { origin: "unknown", goal: null, messageId: null, ...entry.birth };
  const transition: TurnTransition = { ...entry, projectId, sessionId, birth };
  const stored = turnOn(page, context, entry.turnId);
  const decision = decideTurnTransition({ stored, live, lastSequence: newest?.sequence ?? 0 }, transition);
  if (decision.kind === "rejected") return page;
  if (decision.kind === "conflict") throw turnConflict(transition, decision.live);
  return withTurn(page, decision.turn);
}

function withTurn({ book, changes }: BookPage, turn: Turn): BookPage {
  const isItsOwn = book.live === undefined || book.live.turnId === turn.turnId;
  const live = isItsOwn ? (isLiveTurn(turn) ? turn : undefined) : book.live;
  const newest = turn.sequence >= (book.newest?.sequence ?? 0) ? turn : book.newest;
  return { book: { ...book, live, newest }, changes: [...changes, { kind: "turn", turn }] };
}

/** The page with the next version of a message; the same page for the same message. */
export function enterMessage(page: BookPage, before: Message, message: Message): BookPage {
  if (message === before) return page;
  const { book, changes } = page;
  const sent = book.sent.flatMap((one) =>
    one.id === message.id ? (isSent(message) ? [message] : []) : [one],
  );
  return { book: { ...book, sent }, changes: [...changes, { kind: "message", message }] };
}
