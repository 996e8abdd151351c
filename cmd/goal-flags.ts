import { MAX_TURNS, parseUntil } from "../src/domain/goal-text.ts";
import type { GoalControl } from "../src/domain/goal-transitions.ts";
import { countFlag } from "./flags.ts";

/** How far a goal may go. */
export interface GoalLimitFlags {
  readonly maxTurns?: string | undefined;
  readonly until?: string | undefined;
}

/** @throws AoError usage */
export function goalLimits({ maxTurns, until }: GoalLimitFlags): Pick<GoalControl, "maxTurns" | "until"> {
  return {
    maxTurns: maxTurns === undefined ? null : countFlag("--max-turns", maxTurns, MAX_TURNS),
    until: until === undefined ? null : parseUntil(until),
  };
}
