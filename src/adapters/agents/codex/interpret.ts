import type { HookEvent } from "../../../domain/facts.ts";
import type { AgentSignal } from "../../../ports/agent.ts";
import { type Members, membersIn } from "../json-lines.ts";
import { isConversationId } from "./codex-files.ts";

type Reader = (body: Members) => AgentSignal | undefined;

/** The hooks that codex is asked to send (0.171.0). Its end is not among them: it tells only some of its ends. */
export const HOOK_EVENTS = [
  "SessionStart",
  "UserPromptSubmit",
  "PostToolUse",
  "PermissionRequest",
  "Stop",
  "Interrupt",
] as const;

/** What its own log tells in place of a hook; see own-events.ts. */
export const OWN_EVENTS = ["ao:busy", "ao:failed", "ao:interrupted", "ao:stopped"] as const;

function named({ session_id: id }: Members): string | null {
  return typeof id === "string" && isConversationId(id) ? id : null;
}

function submission(body: Members): AgentSignal | undefined {
  const { prompt } = body;
  if (typeof prompt !== "string") return undefined;
  return { activity: "active", agentSessionId: named(body), turn: { kind: "submitted", text: prompt } };
}

function failure(body: Members): AgentSignal {
  const { code, message } = body;
  const turn = {
    kind: "failed",
    code: typeof code === "string" && code !== "" ? code : "agent_error",
    message: typeof message === "string" ? message : "",
  } as const;
  return { activity: "blocked", agentSessionId: named(body), turn, logged: true };
}

const stopped: Reader = (body) => ({
  ...{ activity: "ready", agentSessionId: named(body), turn: { kind: "stopped" }, logged: true },
});

const interrupted: Reader = (body) => ({
  ...{ activity: "idle", agentSessionId: named(body), turn: { kind: "interrupted" }, logged: true },
});

const READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  // It comes with the first prompt, not before (0.171.0).
  ["SessionStart", (body) => ({ activity: null, agentSessionId: named(body) })],
  ["UserPromptSubmit", submission],
  ["PostToolUse", () => ({ activity: "active", agentSessionId: null })],
  ["PermissionRequest", () => ({ activity: "waiting_input", asks: "permission", agentSessionId: null })],
  ["Stop", stopped],
  ["Interrupt", interrupted],
  ["ao:busy", () => ({ activity: "active", agentSessionId: null })],
  ["ao:failed", failure],
  ["ao:interrupted", interrupted],
  ["ao:stopped", stopped],
] satisfies readonly (readonly [(typeof HOOK_EVENTS)[number] | (typeof OWN_EVENTS)[number], Reader])[]);

/**
 * Of a sub-agent, which may work on when the turn that began it has ended: it counts only that it asks a person, as
 * whatever is typed then answers it (0.171.0).
 */
function isOfSubAgent({ agent_id: id }: Members): boolean {
  return id !== undefined && id !== null;
}

const QUIET: AgentSignal = { activity: null, agentSessionId: null };

/** Reads one event of codex; `undefined` when it is unknown or malformed. Never throws. */
export function interpretCodex(event: HookEvent): AgentSignal | undefined {
  const body = membersIn(event.body);
  if (body === undefined) return undefined;
  const signal = READERS.get(event.event)?.(body);
  return isOfSubAgent(body) && signal?.activity !== "waiting_input" ? QUIET : signal;
}
