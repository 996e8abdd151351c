import { AoError } from "../../domain/errors.ts";
import type { Turn } from "../../domain/turn.ts";
import { decideTurnTransition, type TurnTransition, turnConflict } from "../../domain/turn-transitions.ts";
import type { SessionDeps } from "../deps.ts";
import { type TurnDeps, writeChanges } from "./turn-pages.ts";

export interface RecordedTurn {
  /** As it stands now. */
  readonly turn: Turn;
  /** False for an event that is late or older than what is stored: that stays. */
  readonly accepted: boolean;
}

/**
 * Records one event in the life of a turn, with its entry in the change log, in one transaction; inside of one, in
 * that (`insideTransaction`). Settling it makes room for the next turn of its session.
 *
 * @throws AoError busy when another turn of the session goes on; what was reported with this must not stay either.
 * @throws AoError session_not_found
 */
export function recordTurnTransition(
  deps: TurnDeps & Pick<SessionDeps, "store" | "clock">,
  transition: TurnTransition,
): RecordedTurn {
  const { sessionId } = transition;
  return deps.store.transaction(() => {
    if (deps.store.get(sessionId) === undefined) {
      throw new AoError("session_not_found", `turn ${transition.turnId} is of no session: ${sessionId}`);
    }
    const [stored, live] = [deps.turns.get(transition), deps.turns.live(sessionId)];
    const lastSequence = deps.turns.newest(sessionId)?.sequence ?? 0;
    const decision = decideTurnTransition({ stored, live, lastSequence }, transition);
    if (decision.kind === "conflict") throw turnConflict(transition, decision.live);
    const { turn } = decision;
    if (decision.kind === "rejected") return { turn, accepted: false };
    writeChanges(deps, [{ kind: "turn", turn }], deps.clock.nowMs());
    return { turn, accepted: true };
  });
}
