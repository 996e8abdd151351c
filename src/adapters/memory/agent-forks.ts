import type { ConversationEntry } from "../../domain/transcript/conversation-entry.ts";
import type {
  AgentCapabilities,
  AgentFork,
  ForkAnswer,
  ForkRequest,
  LaunchPlan,
  LaunchRequest,
} from "../../ports/agent.ts";

/** Where it keeps its conversations when its environment has no `AGENT_HOME`. */
export const MEMORY_HOME = "/home/agent";

/** The command of an agent that exists only in memory. */
export function launchPlan(request: LaunchRequest, idArgs: readonly string[]): LaunchPlan {
  return { argv: ["agent", ...idArgs, ...request.extraArgs], env: {}, files: [], settleMs: 10 };
}

type Copy = (request: ForkRequest) => Promise<ForkAnswer>;

/** How an agent in memory forks, and what a test may ask and set about it. */
export interface MemoryForks {
  readonly fork: AgentFork | undefined;
  /** What it does when it is told to copy a conversation, from now on; at first it copies. */
  answerForks(answer: Copy): void;
  /** What it was told to copy, and what it was asked for a command to fork, in order. */
  readonly forks: readonly ForkRequest[];
}

/** What it knows. */
interface Known {
  /** The home that each is in. */
  readonly conversations: Map<string, string>;
  readonly logs: Map<string, readonly ConversationEntry[] | null>;
}

export function memoryForks(capabilities: AgentCapabilities, known: Known): MemoryForks {
  const forks: ForkRequest[] = [];
  let answer: Copy = async (request) => copyWithin(known, request);
  const copy: Copy = (request) => {
    forks.push(request);
    return answer(request);
  };
  const plan = (request: ForkRequest) => {
    forks.push(request);
    return nativeFork(capabilities.pinsSessionId, request);
  };
  return {
    fork: forkOf(capabilities, { copy, plan }),
    forks,
    answerForks: (next) => {
      answer = next;
    },
  };
}

function copyWithin(
  { conversations, logs }: Known,
  { source, home, throughPosition, launch }: ForkRequest,
): ForkAnswer {
  const id = launch.agentSessionId;
  if (conversations.get(source.agentSessionId) !== (source.home ?? MEMORY_HOME))
    return { kind: "refused", why: "it has no such conversation" };
  if (id === null || conversations.has(id)) return { kind: "refused", why: "the new id is not free" };
  const log = logs.get(source.agentSessionId) ?? null;
  logs.set(id, log?.filter(({ position }) => position <= throughPosition) ?? null);
  conversations.set(id, home ?? MEMORY_HOME);
  return { kind: "accepted", agentSessionId: id, inheritedThrough: throughPosition };
}

function nativeFork(pins: boolean, { source, launch }: ForkRequest) {
  const agentSessionId = pins ? launch.agentSessionId : null;
  const idArgs = agentSessionId === null ? [] : ["--new", agentSessionId];
  return { launch: launchPlan(launch, ["--fork", source.agentSessionId, ...idArgs]), agentSessionId };
}

type Ways = Pick<Extract<AgentFork, { readonly kind: "prefix" }>, "copy"> &
  Pick<Extract<AgentFork, { readonly kind: "native" }>, "plan">;

function forkOf({ fork }: AgentCapabilities, { copy, plan }: Ways): AgentFork | undefined {
  switch (fork) {
    case "none":
      return undefined;
    case "replay":
      return { kind: "replay" };
    case "prefix":
      return { kind: "prefix", copy };
    case "native":
      return { kind: "native", plan };
  }
}
