import { agentEnvironment } from "../domain/agent-environment.ts";
import { dataLayout } from "../domain/data-layout.ts";
import { AoError } from "../domain/errors.ts";
import type { LaunchId, ProjectId, SessionId } from "../domain/ids.ts";
import { literalText } from "../domain/literal-text.ts";
import type { SessionMetadata, SessionRecord } from "../domain/session.ts";
import type { GoalProvenance } from "../domain/turn.ts";
import type { Agent, LaunchPlan, LaunchRequest } from "../ports/agent.ts";
import type { AgentPlace, ConversationPlace } from "../ports/agent-target.ts";
import type { Fence } from "../ports/fence.ts";
import type { RuntimeSpec } from "../ports/runtime.ts";
import type { SessionDeps } from "./deps.ts";
import { requireTool } from "./require-tool.ts";

/** One launch of an agent, before it is carried out. */
export interface LaunchDraft
  extends Pick<SessionMetadata, "workspacePath" | "agentSessionId" | "model" | "permissions" | "configPath"> {
  readonly agent: Agent;
  /** Takes the conversation up instead of beginning one. */
  readonly resumes: boolean;
  /** It was to take one up, but that never began. */
  readonly neverBegan?: boolean;
  readonly sessionId: SessionId;
  readonly projectId: ProjectId;
  readonly issueId: string | null;
  readonly launchId: LaunchId;
  readonly agentArgs: readonly string[];
  /** The whole prompt, rules included; `null` for none. */
  readonly prompt: string | null;
  readonly projectEnv: Readonly<Record<string, string>>;
  /** Generations of its goal that are revoked. */
  readonly goalFences?: readonly GoalProvenance[];
}

type LaunchDeps = Pick<SessionDeps, "programs" | "files" | "callerEnv" | "dataDir">;

/** @throws AoError agent_not_found when there is no adapter of that name. */
export function requireAgent({ agents }: Pick<SessionDeps, "agents">, name: string): Agent {
  const agent = agents.get(name);
  if (agent !== undefined) return agent;
  throw new AoError("agent_not_found", `no agent ${JSON.stringify(name)}`, {
    hint: "ao agents",
    details: { known: [...agents.keys()].sort() },
  });
}

/** The folder of one launch, below the session's, so that two launches at once never share a file. */
export function launchDir(dataDir: string, sessionId: SessionId, launchId: LaunchId): string {
  return `${dataLayout(dataDir).launchDir(sessionId)}/${launchId}`;
}

/** The environment of an agent; `agentEnv` is what its own plan adds. */
export function launchEnvironment(
  { callerEnv, dataDir }: Pick<LaunchDeps, "callerEnv" | "dataDir">,
  draft: Omit<LaunchDraft, "workspacePath">,
  agentEnv: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const { sessionId, projectId, issueId, launchId, configPath, projectEnv } = draft;
  const ao = { sessionId, projectId, issueId, dataDir, launchId, configPath };
  return agentEnvironment({ callerEnv, projectEnv, agentEnv, ao });
}

/** Where an agent that is launched in that environment keeps its conversations; `null` when it does not tell. */
export function agentHome(
  agent: Agent,
  env: Readonly<Record<string, string | undefined>>,
  workspacePath: string,
): string | null {
  return agent.home?.(env, workspacePath) ?? null;
}

/** Where the conversations of a session lie, as its last launch had it. */
export function conversationPlace(dataDir: string, { metadata }: SessionRecord): ConversationPlace {
  const { workspacePath, agentHome: home = null } = metadata;
  return { dataDir, workspacePath, home };
}

/** What an agent needs to find what it keeps of the launch that a record names. */
export function agentPlace(dataDir: string, record: SessionRecord): AgentPlace {
  const { agentSessionId, launchId } = record.metadata;
  const launch = launchDir(dataDir, record.id, launchId);
  return { ...conversationPlace(dataDir, record), agentSessionId, launchDir: launch };
}

/**
 * Finds out before any side effect whether the launch can work.
 *
 * @throws AoError usage when the agent refuses the request, or does not know the permission mode.
 * @throws AoError agent_unavailable, runtime_unavailable, git_unavailable when one is missing, too old or did not
 *   answer.
 */
export async function checkLaunch(
  deps: LaunchDeps & Pick<SessionDeps, "runtime" | "workspace">,
  draft: LaunchDraft,
): Promise<void> {
  refuseMode(draft);
  const plan = planLaunch(deps.dataDir, draft);
  const env = launchEnvironment(deps, draft, plan.env);
  const [agent, runtime, git] = await Promise.all([
    draft.agent.check(searchPath(env), "presence"),
    deps.runtime.check(),
    deps.workspace.check(),
  ]);
  requireTool("agent_unavailable", `agent ${draft.agent.name}`, agent);
  requireTool("runtime_unavailable", deps.runtime.name, runtime);
  requireTool("git_unavailable", "git", git);
  // A path relative to the workspace means nothing before there is one.
  const [program = ""] = plan.argv;
  if (!program.includes("/") || program.startsWith("/")) await findProgram(deps, draft, { plan, env });
}

function refuseMode({ agent, permissions }: LaunchDraft): void {
  const known = agent.capabilities.permissionModes;
  if (known.includes(permissions)) return;
  throw new AoError("usage", `agent ${agent.name} has no permission mode ${permissions}`, {
    hint: `it knows: ${known.join(", ")}`,
  });
}

/**
 * Writes the private files of the launch and says what to start. The fence is asked right before the first is
 * written: what took the launch back would not come by again to remove them.
 *
 * @throws AoError agent_unavailable when the program is not there.
 * @throws AoError data_dir_unusable
 * @throws AoError operation_in_progress when the claim was lost; nothing was written then.
 */
export async function prepareLaunch(
  deps: LaunchDeps,
  draft: LaunchDraft,
  fence: Fence,
): Promise<RuntimeSpec> {
  const { sessionId, launchId, workspacePath, prompt } = draft;
  const plan = planLaunch(deps.dataDir, draft);
  const env = launchEnvironment(deps, draft, plan.env);
  const program = await findProgram(deps, draft, { plan, env });
  const folder = launchDir(deps.dataDir, sessionId, launchId);
  fence();
  if (prompt !== null && takesFile(draft)) {
    await deps.files.write(promptFile(folder), literalText(prompt, draft.agent.capabilities.commandMarks));
  }
  for (const { path, content } of plan.files) await deps.files.write(path, content);
  const argv = [program, ...plan.argv.slice(1)];
  const { settleMs, stdinPath } = plan;
  const spec = { sessionId, launchId, workspacePath, launchDir: folder, argv, env, settleMs };
  return stdinPath === undefined ? spec : { ...spec, stdinPath };
}

/** What it is sent first instead of being launched with it, as a part of the progress of an operation. */
export function openingOf(draft: LaunchDraft): { readonly opening?: string } {
  return draft.prompt === null || takesFile(draft) ? {} : { opening: draft.prompt };
}

/** Whether its launch carries the prompt; else it is sent as a message. */
function takesFile({ agent }: Pick<LaunchDraft, "agent">): boolean {
  return agent.capabilities.firstPrompt !== "message";
}

function planLaunch(dataDir: string, draft: LaunchDraft): LaunchPlan {
  const { sessionId, projectId, launchId, workspacePath, agentSessionId, model, permissions } = draft;
  const { projectEnv } = draft;
  const folder = launchDir(dataDir, sessionId, launchId);
  const request: LaunchRequest = {
    ...{ sessionId, projectId, launchId, workspacePath, dataDir, agentSessionId, model, permissions },
    launchDir: folder,
    promptFile: draft.prompt !== null && takesFile(draft) ? promptFile(folder) : null,
    ...{ extraArgs: draft.agentArgs, projectEnv },
    ...(draft.goalFences !== undefined && draft.goalFences.length > 0 && { goalFences: draft.goalFences }),
  };
  return draft.resumes ? draft.agent.resume(request) : draft.agent.launch(request);
}

function promptFile(folder: string): string {
  return `${folder}/prompt`;
}

function searchPath(env: Readonly<Record<string, string>>): string {
  return env["PATH"] ?? "";
}

async function findProgram(
  { programs }: Pick<LaunchDeps, "programs">,
  { agent, workspacePath }: LaunchDraft,
  { plan, env }: { readonly plan: LaunchPlan; readonly env: Readonly<Record<string, string>> },
): Promise<string> {
  const [name = ""] = plan.argv;
  const program = await programs.find(name, searchPath(env), workspacePath);
  if (program !== undefined) return program;
  throw new AoError("agent_unavailable", `agent ${agent.name}: no program ${JSON.stringify(name)} found`, {
    hint: "install it, or put its folder on PATH",
  });
}
