import { AoError } from "./errors.ts";
import { parsePrompt } from "./user-text.ts";

const MAX_OBJECTIVE_CHARS = 64 * 1024;
const MAX_UNTIL_CHARS = 4096;

/** Most turns that one goal may take. */
export const MAX_TURNS = 10_000;

/**
 * Accepts an objective as it is: not blank, at most 64 Ki characters, no NUL.
 *
 * @throws AoError usage
 */
export function parseObjective(text: string): string {
  if (text.trim() === "")
    throw new AoError("usage", "the goal is empty", { hint: "say what is to be reached" });
  if (text.length > MAX_OBJECTIVE_CHARS) {
    throw new AoError("usage", "the goal is longer than 64 Ki characters", {
      hint: "put the material into a file of the worktree and name the file in the goal",
    });
  }
  return parsePrompt(text);
}

/**
 * Accepts a command line as it is: not blank, at most 4096 characters, no NUL.
 *
 * @throws AoError usage
 */
export function parseUntil(text: string): string {
  const isBad = text.trim() === "" || text.length > MAX_UNTIL_CHARS || text.includes("\0");
  if (!isBad) return text;
  throw new AoError("usage", "the command of --until is empty, too long, or holds a NUL", {
    hint: "put it into a script of the repository and name that",
  });
}

/** What the agent is told at the turn of that number. The first one is the objective, byte for byte. Pure. */
export function goalMessage(
  objective: string,
  turn: { readonly number: number; readonly maxTurns: number },
): string {
  if (turn.number === 1) return objective;
  return `Go on with the goal (turn ${turn.number} of ${turn.maxTurns}):\n\n${objective}`;
}
