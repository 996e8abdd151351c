import type { Agent, ForkRequest, LaunchRequest } from "../../ports/agent.ts";
import type { SessionDeps } from "../deps.ts";
import { type LaunchDraft, launchDir, requireAgent } from "../launch-agent.ts";
import type { AskedEnvironment } from "./asked-environment.ts";
import type { ForkProgress } from "./fork-progress.ts";

/** How the agent of a fork is started: with the conversation that was made for it, or so that it makes one. */
export function forkDraft(
  deps: Pick<SessionDeps, "agents">,
  progress: ForkProgress,
  { projectEnv }: Pick<AskedEnvironment, "projectEnv">,
): LaunchDraft {
  const { frozen, accepted, created, ref } = progress;
  const { seed } = frozen;
  const { model, permissions, configPath, agentArgs, launchId } = seed.metadata;
  const agent = requireAgent(deps, seed.metadata.agent);
  const agentSessionId = accepted === null ? seed.metadata.agentSessionId : accepted.agentSessionId;
  return {
    ...{ projectId: seed.projectId, issueId: seed.issueId, sessionId: seed.id, launchId, agentSessionId },
    ...{ model, permissions, configPath, agentArgs, prompt: null, projectEnv },
    workspacePath: created?.path ?? ref.path,
    agent: accepted === null ? forking(agent, progress) : agent,
    resumes: accepted !== null || agent.fork?.kind !== "replay",
  };
}

/** As the agent, but that it takes up its conversation by forking another one. */
function forking(agent: Agent, progress: ForkProgress): Agent {
  const { fork } = agent;
  if (fork?.kind !== "native") return agent;
  const resume = (launch: LaunchRequest) => fork.plan({ ...sourceOf(progress), launch }).launch;
  return { ...agent, resume, launch: resume };
}

function sourceOf({ frozen }: ForkProgress): Omit<ForkRequest, "launch"> {
  const { agentSessionId, workspacePath, home = null, throughPosition } = frozen.conversation;
  const source = { agentSessionId, workspacePath, home };
  return { source, home: frozen.seed.metadata.agentHome ?? null, throughPosition };
}

/** What an agent is asked for that copies a conversation. */
export function copyRequest({ dataDir }: Pick<SessionDeps, "dataDir">, progress: ForkProgress): ForkRequest {
  const { frozen, created, ref } = progress;
  const { id: sessionId, projectId, metadata } = frozen.seed;
  const { launchId, agentSessionId, model, permissions, agentArgs: extraArgs } = metadata;
  const launch: LaunchRequest = {
    ...{ sessionId, projectId, launchId, agentSessionId, model, permissions, extraArgs, dataDir },
    workspacePath: created?.path ?? ref.path,
    launchDir: launchDir(dataDir, sessionId, launchId),
    promptFile: null,
  };
  return { ...sourceOf(progress), launch };
}

/** The id of the conversation that the agent's own command makes; `null` when only its hooks tell. */
export function nativeConversation(deps: SessionDeps, progress: ForkProgress): string | null {
  const { fork } = requireAgent(deps, progress.frozen.seed.metadata.agent);
  if (fork?.kind === "native") return fork.plan(copyRequest(deps, progress)).agentSessionId;
  return progress.frozen.seed.metadata.agentSessionId;
}
