import { isAoError } from "../../domain/errors.ts";
import type { SessionId } from "../../domain/ids.ts";
import { isTerminal } from "../../domain/lifecycle.ts";
import type { SessionRecord } from "../../domain/session.ts";
import type { Turn } from "../../domain/turn.ts";
import type { TurnRows } from "../../ports/turn-store.ts";
import { factsOf, foldFacts } from "../observe/fold-facts.ts";
import { type Facts, gatherFacts, type SaveDeps } from "../observe/gather-facts.ts";
import { requireSession } from "../session-refs.ts";
import { foldTurns } from "./record-turns.ts";
import { afterEnd } from "./settle-ended.ts";

export interface ListTurnsOptions {
  /** How many at most, the newest ones. */
  readonly limit: number;
  /** Skips the live look and the inbox: what is stored is shown. */
  readonly stored: boolean;
}

/**
 * The turns of a session as they are now, newest first: stored rows, pending events and one live look, folded in
 * memory through the rules that a changing command saves with. Writes nothing.
 *
 * @throws AoError session_not_found
 */
export async function listTurns(
  deps: SaveDeps,
  id: SessionId,
  { limit, stored }: ListTurnsOptions,
): Promise<TurnRows> {
  requireSession(deps, id);
  const facts = stored ? null : await gather(deps, id);
  const [record] = facts?.records ?? [];
  const rows = deps.turns.ofSession(id, limit);
  if (facts === null || record === undefined) return rows;
  return {
    turns: overlaid(rows.turns, nowTurns(deps, facts, record)).slice(0, limit),
    unreadable: rows.unreadable,
  };
}

function gather(deps: SaveDeps, id: SessionId): Promise<Facts> {
  const load = () => [requireSession(deps, id)];
  return gatherFacts(deps, { load, lookAt: ({ lifecycle }) => !isTerminal(lifecycle) });
}

/** Turns that a write would change, as it would leave them; none when they cannot be read. */
function nowTurns(deps: SaveDeps, facts: Facts, before: SessionRecord): readonly Turn[] {
  const nowMs = facts.takenAtMs;
  try {
    const page = foldTurns(deps, { before, facts: factsOf(deps, facts, before), nowMs });
    const record = foldFacts(deps, facts, before);
    const { changes } = afterEnd(deps, { record, page, nowMs });
    return changes.flatMap((change) => (change.kind === "turn" ? [change.turn] : []));
  } catch (error) {
    if (isAoError(error, "store_corrupt")) return [];
    throw error;
  }
}

/** The latest version of each turn, newest first. */
function overlaid(stored: readonly Turn[], changed: readonly Turn[]): readonly Turn[] {
  const latest = new Map([...stored, ...changed].map((turn) => [turn.turnId, turn]));
  return [...latest.values()].sort((one, other) => other.sequence - one.sequence);
}
