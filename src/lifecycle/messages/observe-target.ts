import type { SessionId } from "../../domain/ids.ts";
import { isTerminal } from "../../domain/lifecycle.ts";
import type { SessionRecord } from "../../domain/session.ts";
import type { AgentCapabilities } from "../../ports/agent.ts";
import type { RuntimeTarget } from "../../ports/runtime.ts";
import type { SessionDeps } from "../deps.ts";
import { liveTarget, requireSight } from "../live-target.ts";
import { type Facts, gatherFacts, lookFailures } from "../observe/gather-facts.ts";
import { saveFacts } from "../observe/observe-sessions.ts";
import { requireSession } from "../session-refs.ts";
import type { FeedOptions } from "../transcripts/feed-transcripts.ts";

/** A session as it was just seen and heard, its agent alive. */
export interface LiveSession {
  readonly record: SessionRecord;
  readonly target: RuntimeTarget;
  readonly capabilities: AgentCapabilities | undefined;
}

/**
 * Looks at a session and listens, and saves what there was.
 *
 * @throws AoError session_not_found
 * @throws AoError not_running when the session is over or its agent gone.
 * @throws AoError runtime_unavailable when it could not look; nothing was saved then.
 */
export async function observeLive(deps: SessionDeps, id: SessionId): Promise<LiveSession> {
  const facts = await seeSession(deps, id);
  const record = requireSession(deps, id);
  const target = liveTarget(record, facts.seen.get(id));
  return { record, target, capabilities: deps.agents.get(record.metadata.agent)?.capabilities };
}

/**
 * Listens to a session, looks at it unless it is over, and saves what that told.
 *
 * @throws AoError session_not_found
 * @throws AoError runtime_unavailable when it could not look; nothing was saved then.
 */
export async function seeSession(deps: SessionDeps, id: SessionId): Promise<Facts> {
  const load = () => [requireSession(deps, id)];
  const facts = await gatherFacts(deps, { load, lookAt: ({ lifecycle }) => !isTerminal(lifecycle) });
  requireSight(lookFailures(facts));
  await saveFacts(deps, facts);
  return facts;
}

/** Listens to the current launch without a look, and saves what was heard. @throws AoError session_not_found */
export async function hearSession(
  deps: SessionDeps,
  id: SessionId,
  options: FeedOptions = {},
): Promise<void> {
  const { launchId } = requireSession(deps, id).metadata;
  const load = () => [requireSession(deps, id)];
  await saveFacts(deps, await gatherFacts(deps, { load, lookAt: () => false, launchId }), options);
}
