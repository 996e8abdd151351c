import { AoError } from "../../domain/errors.ts";
import type { HookEvent } from "../../domain/facts.ts";
import { ACTIVITY_STATES } from "../../domain/lifecycle.ts";
import type { Agent, AgentCapabilities, AgentSignal, LaunchPlan, LaunchRequest } from "../../ports/agent.ts";
import type { ToolCheck } from "../../ports/tool-check.ts";

/** An agent that exists only in memory, with what a test may set about it. */
export interface MemoryAgent extends Agent {
  /** What `check` answers from now on; at first it is installed. */
  setPresence(presence: ToolCheck): void;
  /** Makes the agent know a conversation, as if it had been held. */
  addConversation(agentSessionId: string): void;
  removeConversation(agentSessionId: string): void;
}

const ALL: AgentCapabilities = {
  pinsSessionId: true,
  resume: true,
  fork: "native",
  hooks: true,
  receipts: true,
  bracketedPaste: true,
};

function plan(request: LaunchRequest, idArgs: readonly string[]): LaunchPlan {
  return { argv: ["agent", ...idArgs, ...request.extraArgs], env: {}, files: [], settleMs: 10 };
}

function launch(pins: boolean, request: LaunchRequest): LaunchPlan {
  if (!pins) return plan(request, []);
  if (request.agentSessionId === null) throw new AoError("usage", "the agent needs a conversation id");
  return plan(request, ["--new", request.agentSessionId]);
}

function resume(canResume: boolean, request: LaunchRequest): LaunchPlan {
  if (!canResume || request.agentSessionId === null) {
    throw new AoError("agent_session_unknown", "the agent has no conversation to take up again");
  }
  return plan(request, ["--resume", request.agentSessionId]);
}

/** An event named after an activity means it; `submit` is a receipt whose body is the text. */
function interpret({ hooks, receipts }: AgentCapabilities, event: HookEvent): AgentSignal | undefined {
  const name = event.event === "submit" ? "active" : event.event;
  const activity = ACTIVITY_STATES.find((state) => state === name);
  if (!hooks || activity === undefined) return undefined;
  const submittedText = receipts && event.event === "submit" ? event.body : null;
  return { activity, agentSessionId: null, submittedText };
}

/**
 * The in-memory twin of an agent CLI: it can everything but for what `overrides` takes away.
 *
 * Plans are `agent --new <id>` and `agent --resume <id>`, then the user's arguments.
 */
export function memoryAgent(overrides: Partial<AgentCapabilities> = {}, name = "memory"): MemoryAgent {
  const capabilities = { ...ALL, ...overrides };
  const conversations = new Set<string>();
  let presence: ToolCheck = { kind: "ok", version: "1.0.0", path: "/bin/agent" };
  return {
    name,
    capabilities,
    check: async () => presence,
    launch: (request) => launch(capabilities.pinsSessionId, request),
    resume: (request) => resume(capabilities.resume, request),
    hasConversation: async (agentSessionId) => conversations.has(agentSessionId),
    interpret: (event) => interpret(capabilities, event),
    setPresence: (next) => {
      presence = next;
    },
    addConversation: (agentSessionId) => conversations.add(agentSessionId),
    removeConversation: (agentSessionId) => conversations.delete(agentSessionId),
  };
}
