import type { HookEvent } from "../../../domain/facts.ts";
import type { AgentSignal } from "../../../ports/agent.ts";
import { isConversationId } from "./claude-files.ts";

type Body = Readonly<Record<string, unknown>>;
type Reader = (body: Body) => AgentSignal | undefined;

/** The hooks that claude is asked to send (2.1.197). */
export const HOOK_EVENTS = [
  "SessionStart",
  "UserPromptSubmit",
  "PostToolUse",
  "PostToolUseFailure",
  "PermissionRequest",
  "Notification",
  "Stop",
  "StopFailure",
  "SessionEnd",
] as const;

/** What its own files tell in place of a hook; see own-events.ts. */
export const OWN_EVENTS = ["ao:ready", "ao:busy", "ao:waiting", "ao:interrupted", "ao:stopped"] as const;

const QUIET: AgentSignal = { activity: null, agentSessionId: null };
const WAITING: AgentSignal = { activity: "waiting_input", asks: "permission", agentSessionId: null };
const READY: AgentSignal = { activity: "ready", agentSessionId: null };
const ACTIVE: AgentSignal = { activity: "active", agentSessionId: null };

/** Of a shell that ended in the background, for one: nobody typed it (2.1.197). */
const BY_AGENT = /^<task-notification>/;

function named({ session_id: id }: Body): string | null {
  return typeof id === "string" && isConversationId(id) ? id : null;
}

function submission(body: Body): AgentSignal | undefined {
  const { prompt } = body;
  if (typeof prompt !== "string") return undefined;
  const byAgent = BY_AGENT.test(prompt) ? { byAgent: true } : {};
  const turn = { kind: "submitted", text: prompt, ...byAgent } as const;
  return { activity: "active", agentSessionId: named(body), turn };
}

/** All but a question for leave is said by other events, or says nothing of now. */
function notification({ notification_type: type }: Body): AgentSignal {
  return type === "permission_prompt" || type === "elicitation_dialog" ? WAITING : QUIET;
}

function failure(body: Body): AgentSignal {
  const { error, last_assistant_message: said } = body;
  const message = typeof said === "string" ? said : "";
  const code = typeof error === "string" && error !== "" ? error : "agent_error";
  const turn = { kind: "failed", code, message } as const;
  return { activity: "blocked", agentSessionId: named(body), turn, logged: true };
}

/** A person may go on with another conversation in the same process. */
function sessionEnd({ reason }: Body): AgentSignal {
  return reason === "clear" || reason === "resume" ? QUIET : { activity: "exited", agentSessionId: null };
}

const READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  // A fork names its parent here, so it names nobody; and it comes before the first screen takes a message.
  ["SessionStart", ({ source }) => (source === "clear" ? READY : QUIET)],
  ["UserPromptSubmit", submission],
  ["PostToolUse", () => ACTIVE],
  ["PostToolUseFailure", () => ACTIVE],
  ["PermissionRequest", () => WAITING],
  ["Notification", notification],
  [
    "Stop",
    (body) => ({ activity: "ready", agentSessionId: named(body), turn: { kind: "stopped" }, logged: true }),
  ],
  ["StopFailure", failure],
  ["SessionEnd", sessionEnd],
  ["ao:ready", () => READY],
  ["ao:busy", () => ACTIVE],
  ["ao:waiting", () => WAITING],
  [
    "ao:interrupted",
    () => ({ activity: "idle", agentSessionId: null, turn: { kind: "interrupted" }, logged: true }),
  ],
  [
    "ao:stopped",
    () => ({ activity: "ready", agentSessionId: null, turn: { kind: "stopped" }, logged: true }),
  ],
] satisfies readonly (readonly [(typeof HOOK_EVENTS)[number] | (typeof OWN_EVENTS)[number], Reader])[]);

function parseBody(text: string): Body | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Body) : undefined;
  } catch {
    return undefined;
  }
}

/** Reads one event of claude; `undefined` when it is unknown or malformed. Never throws. */
export function interpretClaude(event: HookEvent): AgentSignal | undefined {
  const body = parseBody(event.body);
  return body === undefined ? undefined : READERS.get(event.event)?.(body);
}
