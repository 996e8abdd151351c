import type { Ao } from "../src/compose.ts";
import { AoError } from "../src/domain/errors.ts";
import { parseTurnId, type SessionId, type TurnId } from "../src/domain/ids.ts";
import type { Turn } from "../src/domain/turn.ts";

/** More turns than any session has. */
const ALL = 1_000_000;

/** The turn that is meant: of one named by its number in `ao turns` the id; any other name is left as it is. */
export function namedTurn({ deps }: Ao, sessionId: SessionId, turnId: TurnId): TurnId {
  if (!/^\d{1,9}$/.test(turnId)) return turnId;
  const isNumbered = ({ sequence }: Turn) => sequence === Number(turnId);
  const { turns } = deps.turns.ofSession(sessionId, ALL);
  const meant = turns.find((turn) => turn.turnId === turnId) ?? turns.find(isNumbered);
  return meant?.turnId ?? turnId;
}

/** The turn that a flag names, by id or by number. @throws AoError usage when it can be no turn's id. */
export function turnFlag(flag: string, text: string): TurnId {
  const id = parseTurnId(text);
  if (id !== undefined) return id;
  throw new AoError("usage", `${flag} is no turn id: ${JSON.stringify(text)}`, {
    hint: "its number, or the whole id, as ao turns <session> tells them",
  });
}
