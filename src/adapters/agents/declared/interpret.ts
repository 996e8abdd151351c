import type { HookEvent } from "../../../domain/facts.ts";
import type { AgentSignal } from "../../../ports/agent.ts";
import type { DeclaredEvent } from "../../../ports/agent-declaration.ts";

type Reader = (body: string) => Omit<AgentSignal, "agentSessionId">;

const READERS: Readonly<Record<DeclaredEvent, Reader>> = {
  ready: () => ({ activity: "ready" }),
  submitted: (text) => ({ activity: "active", turn: { kind: "submitted", text } }),
  active: () => ({ activity: "active" }),
  waiting: () => ({ activity: "waiting_input", asks: "question" }),
  permission: () => ({ activity: "waiting_input", asks: "permission" }),
  stopped: () => ({ activity: "ready", turn: { kind: "stopped" } }),
  failed: (message) => ({ activity: "blocked", turn: { kind: "failed", code: "agent_error", message } }),
  interrupted: () => ({ activity: "idle", turn: { kind: "interrupted" } }),
  exited: () => ({ activity: "exited" }),
};

/** Reads an event that a declared agent left by `ao hooks`; `undefined` for one that it does not declare. */
export function interpretDeclared(
  hooks: readonly DeclaredEvent[],
  { event, body }: HookEvent,
): AgentSignal | undefined {
  const known = hooks.find((one) => one === event);
  return known === undefined ? undefined : { agentSessionId: null, ...READERS[known](body) };
}
