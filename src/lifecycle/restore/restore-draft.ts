import { AoError } from "../../domain/errors.ts";
import type { SessionId } from "../../domain/ids.ts";
import { isTerminal } from "../../domain/lifecycle.ts";
import { composePrompt } from "../../domain/prompt.ts";
import type { SessionRecord } from "../../domain/session.ts";
import type { Turn } from "../../domain/turn.ts";
import type { Agent } from "../../ports/agent.ts";
import type { ConversationPlace } from "../../ports/agent-target.ts";
import type { WorkspaceSpec } from "../../ports/workspace.ts";
import type { SessionDeps } from "../deps.ts";
import { fencedGenerations } from "../goals/restore-fences.ts";
import { agentHome, conversationPlace, type LaunchDraft, requireAgent } from "../launch-agent.ts";
import { mayStillRun, requireSight } from "../live-target.ts";
import { gatherFacts, lookFailures } from "../observe/gather-facts.ts";
import { saveFacts } from "../observe/observe-sessions.ts";
import type { ProjectSettings } from "../projects/projects.ts";
import { requireSession } from "../session-refs.ts";

/** A session whose first conversation never began has a turn for each prompt that was not taken up. */
const SOME_TURNS = 50;

/** How a session comes back. */
export interface RestoreChoice {
  /** Begins a new conversation with the recorded prompt instead of taking the old one up. */
  readonly fresh: boolean;
  readonly settings: ProjectSettings;
}

/**
 * The session as it stands after a look, over and with nothing of it running. Terminal sessions are looked
 * at too: one whose agent still runs must not get a second one.
 *
 * @throws AoError session_not_found, not_restorable, runtime_unavailable
 */
export async function observeEnded(deps: SessionDeps, id: SessionId): Promise<SessionRecord> {
  const facts = await gatherFacts(deps, { load: () => [requireSession(deps, id)], lookAt: () => true });
  requireSight(lookFailures(facts));
  await saveFacts(deps, facts, { areLast: true });
  const record = requireSession(deps, id);
  const mayRun = mayStillRun(facts.seen.get(id));
  if (isTerminal(record.lifecycle) && !mayRun) return record;
  const why = isTerminal(record.lifecycle) ? "its agent may still run" : "it is not terminated";
  throw new AoError("not_restorable", `session ${id} cannot be restored: ${why}`, {
    hint: `${mayRun ? `see it with ao attach ${id}, or ` : ""}end it first: ao kill ${id}`,
    details: { session: record.lifecycle.session, runtime: record.lifecycle.runtime },
  });
}

/**
 * What to launch: the agent of the last launch with its arguments, and which conversation.
 *
 * @throws AoError agent_not_found, agent_session_unknown
 */
export async function draftRestore(
  deps: SessionDeps,
  record: SessionRecord,
  { fresh, settings }: RestoreChoice,
): Promise<LaunchDraft> {
  const { id, projectId, issueId, metadata } = record;
  const { workspacePath, model, permissions, configPath, agentArgs } = metadata;
  const agent = requireAgent(deps, metadata.agent);
  const neverBegan = !fresh && (await isUnbegun(deps, agent, record));
  const begins = fresh || neverBegan;
  const env = { ...deps.callerEnv, ...settings.env };
  const place = { ...conversationPlace(deps.dataDir, record), home: agentHome(agent, env, workspacePath) };
  return {
    ...{ agent, projectId, issueId, workspacePath, model, permissions, configPath, agentArgs },
    ...{ resumes: !begins, neverBegan },
    sessionId: id,
    launchId: deps.ids.launchId(),
    agentSessionId: begins
      ? newConversation(deps, agent)
      : await ownConversation(deps, { agent, record, place }),
    prompt: begins ? composePrompt(deps.store.promptOf(id), settings.agentRules) : null,
    projectEnv: settings.env,
    goalFences: fencedGenerations(deps, record),
  };
}

/**
 * Whether its conversation has no prompt yet, for agents that keep none before: it never had a turn. While an agent
 * that chooses the id itself has told none, that is so when nothing was sent to it at all.
 */
async function isUnbegun(deps: SessionDeps, agent: Agent, record: SessionRecord): Promise<boolean> {
  const { agentSessionId, previousAgentSessionIds } = record.metadata;
  const { begunByPrompt, pinsSessionId } = agent.capabilities;
  if (begunByPrompt !== true) return false;
  if (previousAgentSessionIds.length > 0) return false;
  if (agentSessionId === null) return !pinsSessionId && !hasTurn(deps, record, () => true);
  if (hasTurn(deps, record, ({ startedAtMs }) => startedAtMs !== null)) return false;
  return !(await agent.hasConversation(agentSessionId, conversationPlace(deps.dataDir, record)));
}

function hasTurn(
  { turns }: Pick<SessionDeps, "turns">,
  { id }: SessionRecord,
  counts: (turn: Turn) => boolean,
): boolean {
  const { turns: latest, unreadable } = turns.ofSession(id, SOME_TURNS);
  return unreadable.length > 0 || latest.some(counts);
}

function newConversation({ ids }: Pick<SessionDeps, "ids">, agent: Agent): string | null {
  return agent.capabilities.pinsSessionId ? ids.uuid() : null;
}

interface Sought {
  readonly agent: Agent;
  readonly record: SessionRecord;
  /** Where the agent will look for it once it is launched. */
  readonly place: ConversationPlace;
}

async function ownConversation(deps: SessionDeps, { agent, record, place }: Sought): Promise<string> {
  const { agentSessionId, agentHome: before } = record.metadata;
  if (!agent.capabilities.resume) throw conversationUnknown(record, `${agent.name} cannot take one up again`);
  if (agentSessionId === null) throw conversationUnknown(record, "none was recorded");
  const other = deps.store
    .rows()
    .sessions.find(({ id, metadata }) => id !== record.id && metadata.agentSessionId === agentSessionId);
  if (other !== undefined) throw conversationUnknown(record, `${agentSessionId} is also that of ${other.id}`);
  if (await agent.hasConversation(agentSessionId, place)) return agentSessionId;
  const moved = before && before !== place.home ? ` in ${place.home}; it was begun in ${before}` : "";
  throw conversationUnknown(record, `${agent.name} does not know ${agentSessionId}${moved}`);
}

function conversationUnknown({ id, metadata }: SessionRecord, why: string): AoError {
  const { agent, agentSessionId, previousAgentSessionIds } = metadata;
  return new AoError("agent_session_unknown", `session ${id} has no conversation to take up: ${why}`, {
    hint: `start anew with the recorded prompt: ao restore ${id} --fresh`,
    details: { agent, agentSessionId, previousAgentSessionIds },
  });
}

/** Where the branch stood that a cleanup deleted, for it to be made again. */
export function branchCommitOf({ metadata }: SessionRecord): Pick<WorkspaceSpec, "branchCommit"> {
  const { branch, deletedBranch } = metadata;
  return deletedBranch?.branch === branch ? { branchCommit: deletedBranch.commit } : {};
}
