import type { HookEvent } from "../../domain/facts.ts";
import { isTerminal } from "../../domain/lifecycle.ts";
import type { SessionRecord } from "../../domain/session.ts";
import type { SessionDeps } from "../deps.ts";
import { agentPlace } from "../launch-agent.ts";

type OwnEventDeps = Pick<SessionDeps, "agents" | "dataDir" | "clock">;
type EventsBySession = ReadonlyMap<string, readonly HookEvent[]>;

/**
 * The pending events, and among them in the order of their times what agents tell of their running launch in files
 * of their own. Only agents at work are asked: what ends a turn without a hook is told there. A pure read.
 */
export async function withOwnEvents(
  deps: OwnEventDeps,
  pending: EventsBySession,
  records: readonly SessionRecord[],
): Promise<EventsBySession> {
  const events = new Map(pending);
  for (const record of records.filter((one) => mayWork(pending, one))) {
    const own = await ownEvents(deps, record);
    const all = [...(events.get(record.id) ?? []), ...own];
    if (own.length > 0) events.set(record.id, all.toSorted(byTime));
  }
  return events;
}

function mayWork(pending: EventsBySession, { id, lifecycle }: SessionRecord): boolean {
  const { state } = lifecycle.activity;
  if (isTerminal(lifecycle)) return false;
  return state === null || state === "active" || state === "waiting_input" || pending.has(id);
}

async function ownEvents(
  { agents, dataDir, clock }: OwnEventDeps,
  record: SessionRecord,
): Promise<readonly HookEvent[]> {
  const { agent, launchId, process } = record.metadata;
  const read = agents.get(agent)?.readEvents;
  if (read === undefined) return [];
  const pid = process?.pid ?? null;
  const place = agentPlace(dataDir, record);
  return read({ ...place, sessionId: record.id, launchId, pid, nowMs: clock.nowMs() });
}

function byTime(one: HookEvent, other: HookEvent): number {
  return one.atMs - other.atMs;
}
