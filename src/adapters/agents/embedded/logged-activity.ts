import { readFile } from "node:fs/promises";
import type { ActivityState } from "../../../domain/lifecycle.ts";
import type { LoggedActivity } from "../../../ports/agent.ts";
import { asPosition, parseLine } from "./conversation-entries.ts";
import { conversationFile, isConversationId } from "./conversation-path.ts";
import { ACTIVITY_AFTER } from "./interpret.ts";
import type { ConversationRecord } from "./program/conversation-record.ts";

type Fields = Readonly<Record<string, unknown>>;

const WHILE: ReadonlyMap<unknown, ActivityState> = new Map<ConversationRecord["kind"], ActivityState>([
  ["conversation", "ready"],
  ["prompt", "active"],
  ["answer", "active"],
  ["reply", "active"],
  ["question", "waiting_input"],
  ["edit", "active"],
]);

/** Only the last record counts, as its position tells: what a fork took over stands after its own first line. */
function laterOf(last: Fields | undefined, next: Fields): Fields | undefined {
  const [lastPosition, position] = [asPosition(last?.["position"]) ?? 0, asPosition(next["position"])];
  return position !== undefined && position > lastPosition ? next : last;
}

function activityIn(content: string): LoggedActivity | undefined {
  const last = content
    .split("\n")
    .map(parseLine)
    .filter((fields) => fields !== undefined)
    .reduce<Fields | undefined>(laterOf, undefined);
  if (last === undefined) return undefined;
  const { kind, outcome, atMs } = last;
  const state = kind === "turn_end" ? ACTIVITY_AFTER.get(outcome) : WHILE.get(kind);
  const at = asPosition(atMs);
  return state === undefined || at === undefined ? undefined : { state, atMs: at };
}

/** What the last record of a conversation file says that its agent does; `undefined` when it says nothing. */
export async function readLoggedActivity(dir: string, id: string): Promise<LoggedActivity | undefined> {
  if (!isConversationId(id)) return undefined;
  return readFile(conversationFile(dir, id), "utf8").then(activityIn, () => undefined);
}
