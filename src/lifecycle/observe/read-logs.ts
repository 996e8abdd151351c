import type { SessionId } from "../../domain/ids.ts";
import { launchedAtMs } from "../../domain/launched-at.ts";
import type { SessionRecord } from "../../domain/session.ts";
import type { LoggedActivity } from "../../ports/agent.ts";
import type { SessionDeps } from "../deps.ts";
import { conversationPlace } from "../launch-agent.ts";
import { STILL_MS } from "./last-heard.ts";

type LogDeps = Pick<SessionDeps, "agents" | "dataDir" | "clock">;

/** A session whose agent's own log is asked, and when its hooks last told something; `null` when they never did. */
export interface LogQuestion {
  readonly record: SessionRecord;
  readonly heardAtMs: number | null;
}

/**
 * What the own logs of these agents say of the running launch. One that cannot be read, or ends before the launch,
 * says nothing; nor does one of an agent that was heard, unless it goes on behind what was heard and has had the
 * time to be heard too. A pure read; never rejects.
 */
export async function readLogs(
  deps: LogDeps,
  questions: readonly LogQuestion[],
): Promise<ReadonlyMap<SessionId, LoggedActivity>> {
  const read = await Promise.all(questions.map((question) => readLog(deps, question)));
  return new Map(read.flat());
}

async function readLog(
  { agents, dataDir, clock }: LogDeps,
  { record, heardAtMs }: LogQuestion,
): Promise<readonly (readonly [SessionId, LoggedActivity])[]> {
  const { id, metadata } = record;
  const { agent, agentSessionId } = metadata;
  if (agentSessionId === null) return [];
  const since = heardAtMs === null ? {} : { sinceMs: heardAtMs };
  const read = agents.get(agent)?.readActivity;
  const logged = await read?.(agentSessionId, { ...conversationPlace(dataDir, record), ...since });
  if (logged === undefined || logged.atMs < launchedAtMs(record)) return [];
  const isNews = heardAtMs === null || isBehind(logged, heardAtMs, clock.nowMs());
  return isNews ? [[id, logged]] : [];
}

function isBehind({ atMs }: LoggedActivity, heardAtMs: number, nowMs: number): boolean {
  return atMs > heardAtMs && nowMs - atMs >= STILL_MS;
}
