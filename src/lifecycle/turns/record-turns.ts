import { isAoError } from "../../domain/errors.ts";
import { afterHearing, isNewEvent } from "../../domain/heard-events.ts";
import type { LaunchId, TurnId } from "../../domain/ids.ts";
import { isTerminal } from "../../domain/lifecycle.ts";
import type { SessionRecord } from "../../domain/session.ts";
import type { Turn } from "../../domain/turn.ts";
import { type BookChange, type BookPage, openPage, type TurnBook } from "../../domain/turn-book.ts";
import { afterEvidence, type TurnEvidence } from "../../domain/turn-evidence.ts";
import type { SessionDeps } from "../deps.ts";
import type { EventFact, Fact } from "../record-changes.ts";
import { bookContext, storedPage, type TurnDeps, turnIdOf, writeChanges } from "./turn-pages.ts";

export type RecordTurnsDeps = TurnDeps & Pick<SessionDeps, "agents">;

/** What was learnt of a session, and its row before it was. */
export interface Heard {
  readonly before: SessionRecord;
  readonly facts: readonly Fact[];
  readonly nowMs: number;
}

/**
 * Records what new events say of turns and messages, inside the transaction that saves them to the row, and
 * returns what changed. Turns that cannot be read stay as they are, and so does what the events say of them.
 *
 * @throws AoError busy when a turn would go on beside another: then nothing of the report may stay.
 */
export function recordTurns(deps: RecordTurnsDeps, heard: Heard): readonly BookChange[] {
  if (newEvents(heard).length === 0) return [];
  const page = readable(() => foldTurns(deps, heard));
  if (page === null) return [];
  writeChanges(deps, page.changes, heard.nowMs);
  return page.changes;
}

/**
 * The turns as a write of these facts would leave them.
 *
 * @param after gets every new event with the book after it.
 * @throws AoError store_corrupt
 */
export function foldTurns(
  deps: RecordTurnsDeps,
  heard: Heard,
  after?: (fact: EventFact, book: TurnBook) => void,
): BookPage {
  const { before } = heard;
  const stored = bookContext(deps, before, deps.agents.get(before.metadata.agent));
  const changed = new Map<TurnId, Turn>();
  const context = { ...stored, find: (id: TurnId) => changed.get(id) ?? stored.find(id) };
  const changes: BookChange[] = [];
  let { book } = storedPage(deps, before);
  // A page for each event: ten thousand of them must not grow with each other.
  for (const fact of newEvents(heard)) {
    const page = afterEvidence(openPage(book), context, evidenceOf(deps, before, fact));
    for (const change of page.changes) {
      changes.push(change);
      if (change.kind === "turn") changed.set(change.turn.turnId, change.turn);
    }
    book = page.book;
    after?.(fact, book);
  }
  return { book, changes };
}

/** Those that the row of the session counts as new. A session that is over counts none any more. */
function newEvents({ before, facts, nowMs }: Heard): readonly EventFact[] {
  const ofLaunch = facts.filter((fact) => isEventOf(fact, before.metadata.launchId));
  if (isTerminal(before.lifecycle)) return ofLaunch;
  let { heard } = before.metadata;
  return ofLaunch.filter(({ event, asks }) => {
    if (!isNewEvent(heard, event, nowMs)) return false;
    heard = afterHearing(heard, event, { asks, nowMs });
    return true;
  });
}

function isEventOf(fact: Fact, launchId: LaunchId): fact is EventFact {
  return fact.kind === "event" && fact.event.launchId === launchId;
}

function evidenceOf(
  deps: Pick<TurnDeps, "ids">,
  { id, lifecycle }: SessionRecord,
  { event, says, turn }: EventFact,
): TurnEvidence {
  const activity = says.find((one) => one.kind === "activity");
  return {
    launchId: event.launchId,
    turnId: turnIdOf(deps, id, event.id),
    atMs: Math.min(event.atMs, event.readAtMs),
    isNext: !isTerminal(lifecycle),
    signal: turn ?? null,
    activity: activity?.signal.state ?? null,
  };
}

/** `null` when a row cannot be read: that must not keep the session's own row from being saved. */
function readable<Result>(read: () => Result): Result | null {
  try {
    return read();
  } catch (error) {
    if (isAoError(error, "store_corrupt")) return null;
    throw error;
  }
}
