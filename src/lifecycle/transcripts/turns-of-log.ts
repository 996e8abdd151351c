import { isAoError } from "../../domain/errors.ts";
import type { ConversationEntry } from "../../domain/transcript/conversation-entry.ts";
import { type BegunTurn, turnsOfPrompts } from "../../domain/transcript/turns-of-prompts.ts";
import type { Turn } from "../../domain/turn.ts";
import { foldTurns, type Heard, type RecordTurnsDeps } from "../turns/record-turns.ts";
import { bookContext } from "../turns/turn-pages.ts";

/** Among which the turns of a log are looked for. */
const NEWEST_TURNS = 1000;

type Started = Turn & BegunTurn;

/**
 * By prompt of the agent's own log, the turn that began with it, where that is known: as a write of these facts would
 * leave the turns. A prompt whose turn `ao` sent a text for has that text. Changes nothing.
 */
export function turnsOfLog(
  deps: RecordTurnsDeps,
  heard: Heard,
  entries: readonly ConversationEntry[],
): ReadonlyMap<ConversationEntry, string> {
  const prompts = entries.filter(({ role, edge }) => role === "user" && edge === "start");
  if (prompts.length === 0) return new Map();
  try {
    const turns = startedTurns(deps, heard);
    const byId = new Map(turns.map((turn) => [turn.turnId as string, turn]));
    const { isSameText } = bookContext(deps, heard.before, deps.agents.get(heard.before.metadata.agent));
    return turnsOfPrompts(prompts, turns, ({ text }, { turnId }) => {
      const sent = textOf(deps, byId.get(turnId));
      return text === null || sent === null || isSameText(sent, text);
    });
  } catch (error) {
    if (isAoError(error, "store_corrupt")) return new Map();
    throw error;
  }
}

function startedTurns(deps: RecordTurnsDeps, heard: Heard): readonly Started[] {
  const { turns } = deps.turns.ofSession(heard.before.id, NEWEST_TURNS);
  const byId = new Map(turns.map((turn) => [turn.turnId, turn]));
  for (const change of foldTurns(deps, heard).changes) {
    if (change.kind === "turn") byId.set(change.turn.turnId, change.turn);
  }
  return [...byId.values()].flatMap((turn) => {
    const { startedAtMs } = turn;
    return startedAtMs === null ? [] : [{ ...turn, startedAtMs }];
  });
}

/** `null` when nobody sent one through `ao`. */
function textOf({ messages }: RecordTurnsDeps, turn: Started | undefined): string | null {
  const messageId = turn?.messageId ?? null;
  return messageId === null ? null : (messages.get(messageId)?.text ?? null);
}
