import { activityFromOutput } from "../domain/activity.ts";
import { assertNever } from "../domain/assert-never.ts";
import type { ActivitySignal, HookEvent, RuntimeObservation } from "../domain/facts.ts";
import type { LaunchId } from "../domain/ids.ts";
import { keepSame } from "../domain/keep-same.ts";
import type { SessionRecord } from "../domain/session.ts";
import type { Agent } from "../ports/agent.ts";
import { eventsOf, type Facts, isOfLaunch, type ObserveDeps } from "./gather-facts.ts";
import { afterLook, afterNaming, afterSignal } from "./record-changes.ts";

/** One thing that was learnt of one launch of a session. */
export type Fact =
  | { readonly kind: "activity"; readonly signal: ActivitySignal }
  | { readonly kind: "conversation"; readonly launchId: LaunchId; readonly agentSessionId: string }
  | { readonly kind: "look"; readonly launchId: LaunchId; readonly observation: RuntimeObservation };

/** The facts of one session: what was heard, oldest first, then what was seen. */
export function factsOf(
  deps: Pick<ObserveDeps, "agents">,
  facts: Facts,
  record: SessionRecord,
): readonly Fact[] {
  const agent = deps.agents.get(record.metadata.agent);
  return [...heardFacts(agent, facts, record), ...seenFacts(agent, facts, record)];
}

/** The record as these facts leave it, in memory; the same reference when they are no news. */
export function foldFacts(
  deps: Pick<ObserveDeps, "agents" | "ids">,
  facts: Facts,
  record: SessionRecord,
): SessionRecord {
  const context = { nowMs: facts.takenAtMs, digest: deps.ids.digest };
  const folded = factsOf(deps, facts, record).reduce((sofar: SessionRecord, fact) => {
    switch (fact.kind) {
      case "activity":
        return afterSignal(sofar, fact.signal, context.nowMs);
      case "conversation":
        return afterNaming(sofar, fact);
      case "look":
        return afterLook(sofar, fact, context);
      default:
        return assertNever(fact);
    }
  }, record);
  return keepSame(record, folded);
}

function heardFacts(agent: Agent | undefined, facts: Facts, record: SessionRecord): readonly Fact[] {
  if (agent === undefined) return [];
  const { launchId } = record.metadata;
  return eventsOf(facts, record)
    .filter((event) => isOfLaunch(event, record) && event.agent === agent.name)
    .flatMap((event) => heardFrom(agent, event, { launchId, nowMs: facts.takenAtMs }));
}

function heardFrom(
  agent: Agent,
  event: HookEvent,
  { launchId, nowMs }: { readonly launchId: LaunchId; readonly nowMs: number },
): readonly Fact[] {
  const { activity, agentSessionId } = agent.interpret(event) ?? { activity: null, agentSessionId: null };
  const facts: Fact[] = [];
  if (activity !== null) {
    // A time ahead of now would make every later event look old.
    const atMs = Math.min(event.atMs, nowMs);
    const signal = { state: activity, confidence: "valid", source: "hook", atMs, launchId } as const;
    facts.push({ kind: "activity", signal });
  }
  if (agentSessionId !== null && !agent.capabilities.pinsSessionId) {
    facts.push({ kind: "conversation", launchId, agentSessionId });
  }
  return facts;
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
