import { activityFromOutput } from "../../domain/activity.ts";
import { activityFromScreen } from "../../domain/activity-from-screen.ts";
import type { HookEvent, RuntimeObservation } from "../../domain/facts.ts";
import type { HeardEvent } from "../../domain/heard-events.ts";
import type { LaunchId } from "../../domain/ids.ts";
import type { SessionRecord } from "../../domain/session.ts";
import type { Agent } from "../../ports/agent.ts";
import { afterFacts, type Fact, type Saying } from "../record-changes.ts";
import { eventsOf, type Facts, isOfLaunch, type ObserveDeps } from "./gather-facts.ts";
import { lastHeardMs } from "./last-heard.ts";

/** The facts of one session: what was heard, oldest first, what its agent's log adds to that, then what was seen. */
export function factsOf(
  deps: Pick<ObserveDeps, "agents">,
  facts: Facts,
  record: SessionRecord,
): readonly Fact[] {
  const agent = deps.agents.get(record.metadata.agent);
  return [
    ...heardFacts(agent, facts, record),
    ...lostWords(facts, record),
    ...seenFacts(agent, facts, record),
  ];
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
  if (agentSessionId !== null && agent.capabilities.capturesSessionId) {
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
  if (agent === undefined) return [look];
  const logged = logFacts(facts, record);
  const told = logged.length > 0 ? logged : screenFacts(agent, facts, record);
  if (agent.capabilities.hooks || told.length > 0) return [look, ...told];
  return [look, ...outputFacts(observation, launchId, facts.takenAtMs)];
}

/**
 * What the own log of an agent tells behind its last hook, as the event that a hook would have told: it counts once,
 * and a hook of the same that comes later says nothing new.
 */
function lostWords({ logged, events, takenAtMs: readAtMs }: Facts, record: SessionRecord): readonly Fact[] {
  const said = logged.get(record.id);
  if (said === undefined || lastHeardMs(events, record) === null) return [];
  const { launchId } = record.metadata;
  const { state, atMs, turn = null } = said;
  const signal = { state, atMs, confidence: "valid", source: "native", launchId } as const;
  return [
    {
      ...{ kind: "event", says: [{ kind: "activity", signal }], asks: null, turn },
      event: { id: `log ${launchId} ${atMs} ${state}`, launchId, atMs, readAtMs },
    },
  ];
}

/** What the own log of an agent tells that has not spoken, as long as there is no doubt that it lives. */
function logFacts(facts: Facts, record: SessionRecord): readonly Fact[] {
  const { logged, seen, events } = facts;
  const { id, metadata } = record;
  if (lastHeardMs(events, record) !== null) return [];
  const [said, observation] = [logged.get(id), seen.get(id)];
  if (said === undefined || observation === undefined || !mayLive(observation)) return [];
  const { launchId } = metadata;
  const { state, atMs } = said;
  const signal = { state, atMs, confidence: "valid", source: "native", launchId } as const;
  return [{ kind: "activity", signal }];
}

/** What the screen of an agent tells that has not spoken, as long as there is no doubt that it lives. */
function screenFacts(agent: Agent, facts: Facts, { id, metadata }: SessionRecord): readonly Fact[] {
  const [lines, seen] = [facts.screens.get(id), facts.seen.get(id)];
  if (agent.screen === undefined || lines === undefined || seen?.runtime.kind !== "alive") return [];
  if (!mayLive(seen)) return [];
  const screen = { lines, changedAtMs: seen.runtime.lastOutputAtMs };
  const signal = activityFromScreen(agent.screen, screen, metadata.launchId);
  return signal === null ? [] : [{ kind: "activity", signal }];
}

function mayLive({ process }: RuntimeObservation): boolean {
  return process.kind === "alive" || process.kind === "indeterminate";
}

/** An agent without hooks is read from its terminal, as long as there is no doubt that it lives. */
function outputFacts(observation: RuntimeObservation, launchId: LaunchId, nowMs: number): readonly Fact[] {
  const { runtime } = observation;
  if (runtime.kind !== "alive" || !mayLive(observation)) return [];
  return [{ kind: "activity", signal: activityFromOutput(runtime.lastOutputAtMs, nowMs, launchId) }];
}
