import { activityFromOutput } from "../domain/activity.ts";
import type { HookEvent, RuntimeObservation } from "../domain/facts.ts";
import type { HeardEvent } from "../domain/heard-events.ts";
import type { LaunchId } from "../domain/ids.ts";
import type { SessionRecord } from "../domain/session.ts";
import type { Agent } from "../ports/agent.ts";
import { eventsOf, type Facts, isOfLaunch, type ObserveDeps } from "./gather-facts.ts";
import { afterFacts, type Fact, type Saying } from "./record-changes.ts";

/** The facts of one session: what was heard, oldest first, then what was seen. */
export function factsOf(
  deps: Pick<ObserveDeps, "agents">,
  facts: Facts,
  record: SessionRecord,
): readonly Fact[] {
  const agent = deps.agents.get(record.metadata.agent);
  return [...heardFacts(agent, facts, record), ...seenFacts(agent, facts, record)];
}

/** The record as a write of these facts would leave it; the same reference when they are no news. */
export function foldFacts(
  deps: Pick<ObserveDeps, "agents" | "ids">,
  facts: Facts,
  record: SessionRecord,
): SessionRecord {
  const context = { nowMs: facts.takenAtMs, digest: deps.ids.digest };
  return afterFacts(record, factsOf(deps, facts, record), context);
}

function heardFacts(agent: Agent | undefined, facts: Facts, record: SessionRecord): readonly Fact[] {
  if (agent === undefined) return [];
  const { launchId } = record.metadata;
  return eventsOf(facts, record)
    .filter((event) => isOfLaunch(event, record) && event.agent === agent.name)
    .flatMap((event) => heardFrom(agent, event, { launchId, readAtMs: facts.takenAtMs }) ?? []);
}

function heardFrom(
  agent: Agent,
  event: HookEvent,
  { launchId, readAtMs }: Pick<HeardEvent, "launchId" | "readAtMs">,
): Fact | undefined {
  const signal = agent.interpret(event);
  if (signal === undefined) return undefined;
  const { activity, agentSessionId, asks = null, turn = null } = signal;
  const says: Saying[] = [];
  if (activity !== null) {
    // A time ahead of now would make every later event look old.
    const atMs = Math.min(event.atMs, readAtMs);
    const heard = { state: activity, confidence: "valid", source: "hook", atMs, launchId } as const;
    says.push({ kind: "activity", signal: heard });
  }
  if (agentSessionId !== null && !agent.capabilities.pinsSessionId) {
    says.push({ kind: "conversation", launchId, agentSessionId });
  }
  const { id, atMs } = event;
  const told = activity === null ? undefined : asks;
  return { kind: "event", event: { id, launchId, atMs, readAtMs }, says, asks: told, turn };
}

function seenFacts(agent: Agent | undefined, facts: Facts, record: SessionRecord): readonly Fact[] {
  const observation = facts.seen.get(record.id);
  if (observation === undefined) return [];
  const { launchId } = record.metadata;
  const look: Fact = { kind: "look", launchId, observation };
  if (agent === undefined || agent.capabilities.hooks) return [look];
  return [look, ...outputFacts(observation, launchId, facts.takenAtMs)];
}

/** An agent without hooks is read from its terminal, as long as there is no doubt that it lives. */
function outputFacts(
  { runtime, process }: RuntimeObservation,
  launchId: LaunchId,
  nowMs: number,
): readonly Fact[] {
  const mayLive = process.kind === "alive" || process.kind === "indeterminate";
  if (runtime.kind !== "alive" || !mayLive) return [];
  return [{ kind: "activity", signal: activityFromOutput(runtime.lastOutputAtMs, nowMs, launchId) }];
}
