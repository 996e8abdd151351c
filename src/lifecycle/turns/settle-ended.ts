import { isAoError } from "../../domain/errors.ts";
import type { LaunchId, SessionId } from "../../domain/ids.ts";
import { isTerminal } from "../../domain/lifecycle.ts";
import type { SessionRecord } from "../../domain/session.ts";
import type { BookChange, BookPage } from "../../domain/turn-book.ts";
import { endTurns } from "../../domain/turn-evidence.ts";
import type { SessionDeps } from "../deps.ts";
import { bookContext, storedPage, type TurnDeps, writeChanges } from "./turn-pages.ts";

export type SettleDeps = TurnDeps & Pick<SessionDeps, "store" | "clock">;

/** What was changed of the turns and messages of a session whose agent is gone. */
export interface EndedTurns {
  readonly record: SessionRecord;
  readonly turns: readonly BookChange[];
}

/**
 * Settles, as interrupted, the turns of agents that are proven gone: of sessions that are over, and of launches
 * that another one followed. A turn that is being cancelled is left to that, so operations are recovered first.
 * What was on its way to them is unconfirmed; what waits for a session that is over waits for its restore.
 * Idempotent; one whose rows cannot be read stops no other.
 *
 * @param records rows as they stand; only what they say of the end of an agent is gone by.
 */
export function settleEnded(deps: SettleDeps, records: readonly SessionRecord[]): readonly EndedTurns[] {
  const launches = new Map(deps.turns.allLive().turns.map((turn) => [turn.sessionId, turn.launchId]));
  return records
    .filter(({ id, lifecycle, metadata }) => {
      const launchId = launches.get(id);
      return launchId !== undefined && (isTerminal(lifecycle) || launchId !== metadata.launchId);
    })
    .flatMap(({ id }) => settleOne(deps, id) ?? []);
}

function settleOne(deps: SettleDeps, id: SessionId): EndedTurns | undefined {
  try {
    // One that is being cancelled, or waits to come back, has nothing to settle: then no transaction is opened.
    if (ended(deps, id, deps.clock.nowMs()) === undefined) return undefined;
    return deps.store.transaction(() => {
      const nowMs = deps.clock.nowMs();
      const found = ended(deps, id, nowMs);
      if (found !== undefined) writeChanges(deps, found.turns, nowMs);
      return found;
    });
  } catch (error) {
    if (isAoError(error, "store_corrupt")) return undefined;
    throw error;
  }
}

function ended(deps: SettleDeps, id: SessionId, nowMs: number): EndedTurns | undefined {
  const record = deps.store.get(id);
  if (record === undefined) return undefined;
  const { changes } = afterEnd(deps, { record, page: storedPage(deps, record), nowMs });
  return changes.length === 0 ? undefined : { record, turns: changes };
}

/** The page after whatever of the session has ended did. */
export function afterEnd(
  deps: TurnDeps,
  {
    record,
    page,
    nowMs,
  }: { readonly record: SessionRecord; readonly page: BookPage; readonly nowMs: number },
): BookPage {
  const { lifecycle, metadata } = record;
  const isOver = isTerminal(lifecycle);
  const isGone = (launchId: LaunchId) => isOver || launchId !== metadata.launchId;
  return endTurns(page, bookContext(deps, record, undefined), { nowMs, isGone });
}
