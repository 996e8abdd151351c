import type { HookEvent } from "../../../domain/facts.ts";
import type { ActivityState } from "../../../domain/lifecycle.ts";
import type { TurnSignal } from "../../../domain/turn-signal.ts";
import type { AgentSignal } from "../../../ports/agent.ts";
import { entriesInHook } from "./conversation-entries.ts";
import { isConversationId } from "./conversation-path.ts";
import type { HookName, TurnEnd } from "./hook-body.ts";

type Fields = Readonly<Record<string, unknown>>;

/** `null` says nothing of the activity; `undefined` means that the body does not say what its event promises. */
type Reader = (body: Fields) => ActivityState | null | undefined;

/** What the agent does once a turn has ended like this. */
export const ACTIVITY_AFTER: ReadonlyMap<unknown, ActivityState> = new Map<TurnEnd, ActivityState>([
  ["completed", "ready"],
  ["failed", "blocked"],
  ["interrupted", "idle"],
]);

/** `null` stands for a prompt that was too large to be told. */
function isPrompt(value: unknown): boolean {
  return value === null || typeof value === "string";
}

const READERS: ReadonlyMap<string, Reader> = new Map<HookName, Reader>([
  ["session_start", () => "ready"],
  ["submit", (body) => (isPrompt(body["prompt"]) ? "active" : undefined)],
  ["waiting", () => "waiting_input"],
  ["resumed", () => "active"],
  ["reply", () => null],
  ["tool", () => null],
  ["turn_end", (body) => ACTIVITY_AFTER.get(body["outcome"])],
  ["session_end", () => "exited"],
]);

/** What a readable body says of a turn. */
function turnOf(event: string, body: Fields): TurnSignal | null {
  if (event === "turn_end") return turnEnd(body);
  if (event !== "submit") return null;
  const { prompt, answers } = body;
  const kind = answers === true ? "answered" : "submitted";
  return { kind, text: typeof prompt === "string" ? prompt : null };
}

/** How a turn ended, in the words of a hook or of a conversation file. */
export function turnEnd({ outcome, error }: Fields): TurnSignal {
  if (outcome === "interrupted") return { kind: "interrupted" };
  if (outcome !== "failed") return { kind: "stopped" };
  return { kind: "failed", code: "agent_error", message: typeof error === "string" ? error : "" };
}

function parseBody(text: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Fields) : undefined;
  } catch {
    return undefined;
  }
}

/** Reads one hook event of the embedded agent; `undefined` when it is unknown or malformed. Never throws. */
export function interpretEmbedded(event: HookEvent): AgentSignal | undefined {
  const body = parseBody(event.body);
  const activity = body === undefined ? undefined : READERS.get(event.event)?.(body);
  if (body === undefined || activity === undefined) return undefined;
  const { session_id: id } = body;
  const turn = turnOf(event.event, body);
  const said = entriesInHook(event.event, body);
  return {
    activity,
    agentSessionId: typeof id === "string" && isConversationId(id) ? id : null,
    turn,
    ...(said.length > 0 && { said }),
  };
}
