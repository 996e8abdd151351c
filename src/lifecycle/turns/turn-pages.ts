import { AoError } from "../../domain/errors.ts";
import { parseTurnId, type TurnId } from "../../domain/ids.ts";
import type { SessionRecord } from "../../domain/session.ts";
import { type BookChange, type BookContext, type BookPage, openPage } from "../../domain/turn-book.ts";
import type { Agent } from "../../ports/agent.ts";
import type { SessionDeps } from "../deps.ts";
import { messageChange, turnChange } from "./turn-change.ts";

/** What the turns of a session are read from and written to, in the session's own transaction. */
export type TurnDeps = Pick<SessionDeps, "turns" | "messages" | "operations" | "changes" | "ids">;

/** The turns of a session as they are stored. @throws AoError store_corrupt */
export function storedPage({ turns, messages }: TurnDeps, { id, projectId }: SessionRecord): BookPage {
  return openPage({
    ...{ projectId, sessionId: id, live: turns.live(id), newest: turns.newest(id) },
    sent: messages.sent(id),
  });
}

/** What the rules may ask of a session and its agent. */
export function bookContext(
  deps: Pick<TurnDeps, "turns" | "operations">,
  { id: sessionId, projectId }: SessionRecord,
  agent: Pick<Agent, "receiptText"> | undefined,
): BookContext {
  const receiptText = agent?.receiptText ?? withoutLastBreaks;
  return {
    find: (turnId) => deps.turns.get({ projectId, sessionId, turnId }),
    isSameText: (sent, heard) => receiptText(sent) === receiptText(heard),
    isCancelling: (turnId) =>
      deps.operations
        .unfinished()
        .operations.some((one) => one.sessionId === sessionId && cancels(one, turnId)),
  };
}

function cancels(operation: { readonly kind: string; readonly subject: string }, turnId: TurnId): boolean {
  return operation.kind === "cancel_turn" && operation.subject === turnId;
}

/** Line breaks at the end of a message are not typed: the Enter that follows ends it. */
function withoutLastBreaks(text: string): string {
  return text.replace(/[\r\n]+$/, "");
}

/** What a turn is called that begins with an event: the same however often that is read. */
export function turnIdOf({ ids }: Pick<TurnDeps, "ids">, sessionId: string, eventId: string): TurnId {
  const id = parseTurnId(ids.operationId([sessionId, "turn", eventId]));
  if (id === undefined) throw new AoError("internal", "the id of an event makes no turn id");
  return id;
}

/**
 * Writes what changed and tells the change log, inside the transaction that it was read in.
 *
 * @throws AoError store_busy when a row moved since; nothing of the transaction may stay then.
 */
export function writeChanges(deps: TurnDeps, changes: readonly BookChange[], nowMs: number): void {
  const isWritten =
    stepsOf(
      changes.flatMap((one) => (one.kind === "turn" ? [one.turn] : [])),
      "turnId",
    ).every(({ before, after }) =>
      before === 0 ? deps.turns.insert(after) : deps.turns.save(after, before),
    ) &&
    stepsOf(
      changes.flatMap((one) => (one.kind === "message" ? [one.message] : [])),
      "id",
    ).every(({ before, after }) => deps.messages.save(after, before));
  if (!isWritten) throw new AoError("store_busy", "turns were written by another process");
  for (const change of changes) {
    deps.changes.append(
      change.kind === "turn" ? turnChange(change.turn, nowMs) : messageChange(change.message, nowMs),
    );
  }
}

interface Step<Row> {
  /** The version that is stored; 0 for none. */
  readonly before: number;
  readonly after: Row;
}

/** One write a row, in the order in which they were first changed: all turns but the last are settled by then. */
function stepsOf<
  Key extends string,
  Row extends { readonly version: number } & Readonly<Record<Key, string>>,
>(rows: readonly Row[], key: Key): readonly Step<Row>[] {
  const steps = new Map<string, Step<Row>>();
  for (const row of rows) {
    steps.set(row[key], { before: steps.get(row[key])?.before ?? row.version - 1, after: row });
  }
  return [...steps.values()];
}
