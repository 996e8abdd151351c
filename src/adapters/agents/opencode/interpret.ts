import type { HookEvent } from "../../../domain/facts.ts";
import type { AgentSignal } from "../../../ports/agent.ts";
import { asMembers, type Members, membersIn } from "../json-lines.ts";
import { isConversationId } from "./opencode-files.ts";

/** What the plugin of a launch tells, by opencode's own names (1.18.33). */
export const HOOK_EVENTS = [
  "chat.message",
  "session.status",
  "session.idle",
  "permission.asked",
  "permission.replied",
  "tool.execute.after",
] as const;

type Reader = (body: Members) => AgentSignal | undefined;

const ACTIVE: AgentSignal = { activity: "active", agentSessionId: null };
const WAITING: AgentSignal = { activity: "waiting_input", asks: "permission", agentSessionId: null };

function named({ sessionID: id }: Members): string | null {
  return typeof id === "string" && isConversationId(id) ? id : null;
}

/** What comes while a turn runs is taken up inside it. */
function submission(body: Members): AgentSignal | undefined {
  const { text, isDuring } = body;
  if (typeof text !== "string") return undefined;
  const turn = { kind: isDuring === true ? "answered" : "submitted", text } as const;
  return { activity: "active", agentSessionId: named(body), turn };
}

/** After an interrupt, after a no at its question, after an error of the model, or of its own accord. */
function rest(body: Members): AgentSignal {
  const error = asMembers(body["error"]);
  const told = { agentSessionId: named(body), logged: true };
  if (error === undefined) {
    if (body["isRefused"] === true) return { ...told, activity: "idle", turn: { kind: "interrupted" } };
    return { ...told, activity: "ready", turn: { kind: "stopped" } };
  }
  const { name, message } = error;
  if (name === "MessageAbortedError") return { ...told, activity: "idle", turn: { kind: "interrupted" } };
  const code = typeof name === "string" && name !== "" ? name : "agent_error";
  const said = typeof message === "string" ? message : "";
  return { ...told, activity: "blocked", turn: { kind: "failed", code, message: said } };
}

const READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ["chat.message", submission],
  ["session.status", () => ACTIVE],
  ["session.idle", rest],
  ["permission.asked", () => WAITING],
  ["permission.replied", () => ACTIVE],
  ["tool.execute.after", () => ACTIVE],
] satisfies readonly (readonly [(typeof HOOK_EVENTS)[number], Reader])[]);

/** Reads one event of the plugin; `undefined` when it is unknown or malformed. Never throws. */
export function interpretOpencode(event: HookEvent): AgentSignal | undefined {
  const body = membersIn(event.body);
  return body === undefined ? undefined : READERS.get(event.event)?.(body);
}
