import { resolve } from "node:path";
import type { CancelAnswer } from "../../domain/cancel-answer.ts";
import { AoError } from "../../domain/errors.ts";
import type { HookEvent } from "../../domain/facts.ts";
import { ACTIVITY_STATES, type ActivityState } from "../../domain/lifecycle.ts";
import { PERMISSION_MODES } from "../../domain/session.ts";
import type { ConversationEntry } from "../../domain/transcript/conversation-entry.ts";
import type { TurnSignal } from "../../domain/turn-signal.ts";
import type {
  Agent,
  AgentCapabilities,
  AgentSignal,
  LaunchPlan,
  LaunchRequest,
  LoggedActivity,
} from "../../ports/agent.ts";
import type { ToolCheck } from "../../ports/tool-check.ts";
import type { CancelTarget } from "../../ports/turn-cancel.ts";
import { MEMORY_HOME, type MemoryForks, memoryForks, launchPlan as plan } from "./agent-forks.ts";

/** An agent that exists only in memory, with what a test may set about it. */
export interface MemoryAgent extends Agent, Pick<MemoryForks, "forks" | "answerForks"> {
  /** What `check` answers from now on; at first it is installed. */
  setPresence(presence: ToolCheck): void;
  /** Makes the agent know a conversation, as if it had been held; in its usual home when none is given. */
  addConversation(agentSessionId: string, home?: string): void;
  removeConversation(agentSessionId: string): void;
  /** What its own log holds of a conversation from now on; `null` when it cannot be read, as at first. */
  setLog(agentSessionId: string, entries: readonly ConversationEntry[] | null): void;
  /** What its own log says that it does in a conversation from now on; `undefined` for nothing, as at first. */
  setLoggedActivity(agentSessionId: string, logged: LoggedActivity | undefined): void;
  /** What it answers when told to stop a turn, one after the other, the last one for ever; at first it confirms. */
  answerCancels(...answers: readonly [CancelAnswer, ...CancelAnswer[]]): void;
  /** The turns that it was told to stop, in order. */
  readonly cancels: readonly CancelTarget[];
}

const ALL: AgentCapabilities = {
  pinsSessionId: true,
  resume: true,
  fork: "prefix",
  hooks: true,
  receipts: true,
  bracketedPaste: true,
  capturesSessionId: false,
  firstPrompt: "file",
  showsReadiness: false,
  permissionModes: PERMISSION_MODES,
};

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

type Told = (body: string) => { readonly activity: ActivityState; readonly turn: TurnSignal };

/** Events that tell of a turn; their body is the text that was submitted, or why it failed. */
const TURN_EVENTS: Readonly<Partial<Record<string, Told>>> = {
  submit: (text) => ({ activity: "active", turn: { kind: "submitted", text } }),
  answer: (text) => ({ activity: "active", turn: { kind: "answered", text } }),
  stop: () => ({ activity: "ready", turn: { kind: "stopped" } }),
  fail: (message) => ({ activity: "blocked", turn: { kind: "failed", code: "agent_error", message } }),
  interrupt: () => ({ activity: "idle", turn: { kind: "interrupted" } }),
};

/** The body of a `said` event, as `said` makes it. */
interface Said {
  readonly agentSessionId: string;
  readonly entry: ConversationEntry;
  readonly turn: TurnSignal | null;
}

/** The body of the event `said`, which tells of the conversation, and of a turn where the entry begins or ends one. */
export function said(agentSessionId: string, entry: ConversationEntry): string {
  const { edge, text } = entry;
  const begins: TurnSignal | null = edge === "start" ? { kind: "submitted", text } : null;
  const turn: TurnSignal | null = edge === "end" ? { kind: "stopped" } : begins;
  return JSON.stringify({ agentSessionId, entry, turn } satisfies Said);
}

function saidSignal(body: string): AgentSignal | undefined {
  try {
    const { agentSessionId, entry, turn } = JSON.parse(body) as Said;
    return { activity: null, agentSessionId, turn, said: [entry] };
  } catch {
    return undefined;
  }
}

/** An event named after an activity means it; those of `TURN_EVENTS` tell of a turn as well. */
function interpret(
  { hooks, receipts }: AgentCapabilities,
  { event, body }: HookEvent,
): AgentSignal | undefined {
  if (!hooks) return undefined;
  if (event === "said") return saidSignal(body);
  const activity = ACTIVITY_STATES.find((state) => state === event);
  if (activity !== undefined) return { activity, agentSessionId: null };
  const told = Object.hasOwn(TURN_EVENTS, event) ? TURN_EVENTS[event]?.(body) : undefined;
  if (told === undefined) return undefined;
  const turn = receipts ? told.turn : withoutText(told.turn);
  return { activity: told.activity, agentSessionId: null, turn };
}

function withoutText(turn: TurnSignal): TurnSignal {
  return turn.kind === "submitted" || turn.kind === "answered" ? { ...turn, text: null } : turn;
}

/**
 * The in-memory twin of an agent CLI: it can everything but for what `overrides` takes away.
 *
 * Plans are `agent --new <id>` and `agent --resume <id>`, then the user's arguments.
 */
export function memoryAgent(overrides: Partial<AgentCapabilities> = {}, name = "memory"): MemoryAgent {
  const capturesSessionId = overrides.pinsSessionId === false;
  const capabilities = { ...ALL, capturesSessionId, ...overrides };
  const conversations = new Map<string, string>();
  const logs = new Map<string, readonly ConversationEntry[] | null>();
  const activities = new Map<string, LoggedActivity | undefined>();
  let presence: ToolCheck = { kind: "ok", version: "1.0.0", path: "/bin/agent" };
  let answers: readonly CancelAnswer[] = [{ kind: "confirmed" }];
  const cancels: CancelTarget[] = [];
  const cancelTurn = async (target: CancelTarget): Promise<CancelAnswer> => {
    cancels.push(target);
    const [answer = { kind: "confirmed" }] = answers;
    if (answers.length > 1) answers = answers.slice(1);
    return answer;
  };
  const { forks, fork, answerForks } = memoryForks(capabilities, { conversations, logs });
  return {
    name,
    capabilities,
    cancel: { kind: "call", cancelTurn },
    cancels,
    ...(fork === undefined ? {} : { fork }),
    forks,
    answerForks,
    answerCancels: (...next) => {
      answers = next;
    },
    check: async () => presence,
    launch: (request) => launch(capabilities.pinsSessionId, request),
    resume: (request) => resume(capabilities.resume, request),
    home: (env, workspacePath) => resolve(workspacePath, env["AGENT_HOME"] ?? MEMORY_HOME),
    hasConversation: async (agentSessionId, { home }) =>
      conversations.get(agentSessionId) === (home ?? MEMORY_HOME),
    interpret: (event) => interpret(capabilities, event),
    setPresence: (next) => {
      presence = next;
    },
    async forgetConversation(agentSessionId) {
      conversations.delete(agentSessionId);
    },
    addConversation: (agentSessionId, home = MEMORY_HOME) => conversations.set(agentSessionId, home),
    removeConversation: (agentSessionId) => conversations.delete(agentSessionId),
    readConversation: async (agentSessionId) => logs.get(agentSessionId) ?? null,
    readActivity: async (agentSessionId) => activities.get(agentSessionId),
    setLoggedActivity: (agentSessionId, logged) => activities.set(agentSessionId, logged),
    setLog: (agentSessionId, entries) => logs.set(agentSessionId, entries),
  };
}
