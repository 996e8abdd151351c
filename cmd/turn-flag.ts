import { AoError } from "../src/domain/errors.ts";
import { parseTurnId, type TurnId } from "../src/domain/ids.ts";

/** The turn that a flag names. @throws AoError usage when it can be no turn's id. */
export function turnFlag(flag: string, text: string): TurnId {
  const id = parseTurnId(text);
  if (id !== undefined) return id;
  throw new AoError("usage", `${flag} is no turn id: ${JSON.stringify(text)}`, {
    hint: "the whole id, as ao turns <session> tells it",
  });
}
