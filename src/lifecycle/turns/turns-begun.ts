import { isAoError } from "../../domain/errors.ts";
import type { TurnId } from "../../domain/ids.ts";
import type { EventFact, Fact } from "../record-changes.ts";
import { foldTurns, type Heard, type RecordTurnsDeps } from "./record-turns.ts";
import { turnIdOf } from "./turn-pages.ts";

/** Among which the turn of an event that was heard before is looked for. */
const RECENT_TURNS = 50;

/**
 * By event, the turn that it begins: as a write of these facts would leave them, or as it was recorded before.
 * An event of which neither is known is left out. Changes nothing.
 */
export function turnsBegun(deps: RecordTurnsDeps, heard: Heard): ReadonlyMap<string, TurnId> {
  const begins = heard.facts.filter(isBegin);
  if (begins.length === 0) return new Map();
  try {
    return new Map([...recordedBegins(deps, heard, begins), ...newBegins(deps, heard)]);
  } catch (error) {
    if (isAoError(error, "store_corrupt")) return new Map();
    throw error;
  }
}

function isBegin(fact: Fact): fact is EventFact {
  return fact.kind === "event" && fact.turn?.kind === "submitted";
}

function newBegins(deps: RecordTurnsDeps, heard: Heard): ReadonlyMap<string, TurnId> {
  const begun = new Map<string, TurnId>();
  foldTurns(deps, heard, (fact, { live }) => {
    if (isBegin(fact) && live?.state.kind === "running") begun.set(fact.event.id, live.turnId);
  });
  return begun;
}

/** A turn that `ao` typed has an id of its own; it is known by the moment when its agent took it up. */
function recordedBegins(
  deps: RecordTurnsDeps,
  { before: { id: sessionId, projectId } }: Heard,
  begins: readonly EventFact[],
): ReadonlyMap<string, TurnId> {
  const { turns } = deps.turns.ofSession(sessionId, RECENT_TURNS);
  const begun = new Map<string, TurnId>();
  for (const { event } of begins) {
    const atMs = Math.min(event.atMs, event.readAtMs);
    const own = deps.turns.get({ projectId, sessionId, turnId: turnIdOf(deps, sessionId, event.id) });
    const taken = turns.find((one) => one.launchId === event.launchId && one.startedAtMs === atMs);
    const turn = own ?? taken;
    if (turn !== undefined) begun.set(event.id, turn.turnId);
  }
  return begun;
}
