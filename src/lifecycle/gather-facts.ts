import { activityFromOutput } from "../domain/activity.ts";
import { assertNever } from "../domain/assert-never.ts";
import type { ActivitySignal, HookEvent, RuntimeObservation } from "../domain/facts.ts";
import type { SessionId } from "../domain/ids.ts";
import type { SessionRecord } from "../domain/session.ts";
import type { Agent } from "../ports/agent.ts";
import type { SessionDeps } from "./deps.ts";
import { afterLook, afterNaming, afterSignal } from "./record-changes.ts";
import { runtimeTarget } from "./session-refs.ts";

export type ObserveDeps = Pick<SessionDeps, "store" | "runtime" | "inbox" | "agents" | "clock" | "ids">;

/** One thing that was learnt of the current launch of a session. */
export type Fact =
  | { readonly kind: "activity"; readonly signal: ActivitySignal }
  | { readonly kind: "conversation"; readonly agentSessionId: string }
  | { readonly kind: "look"; readonly observation: RuntimeObservation };

/** What the world says of some sessions, next to what is stored. */
export interface Facts {
  /** The rows as they were read, after the events. */
  readonly records: readonly SessionRecord[];
  /** Pending events of these sessions, oldest first. */
  readonly events: readonly HookEvent[];
  readonly seen: ReadonlyMap<SessionId, RuntimeObservation>;
  readonly takenAtMs: number;
}

export interface Scope {
  readonly load: () => readonly SessionRecord[];
  /** Which of them to look at; those without a runtime are left out anyway. */
  readonly lookAt: (record: SessionRecord) => boolean;
}

/** Reads inbox, rows and runtimes, in this order, with one look at most. Changes nothing. */
export async function gatherFacts(deps: ObserveDeps, scope: Scope): Promise<Facts> {
  // Events first: the row read after an event is at least as new as its launch.
  const pending = await deps.inbox.pending();
  const records = scope.load();
  const targets = records.filter(scope.lookAt).flatMap((record) => runtimeTarget(record) ?? []);
  const seen = targets.length === 0 ? new Map() : await deps.runtime.look(targets);
  const ids = new Set<string>(records.map(({ id }) => id));
  const events = pending.filter(({ sessionId }) => ids.has(sessionId));
  return { records, events, seen, takenAtMs: deps.clock.nowMs() };
}

/** The facts of one session: what was heard, oldest first, then what was seen. */
export function factsOf(deps: Pick<ObserveDeps, "agents">, facts: Facts, record: SessionRecord): readonly Fact[] {
  const agent = deps.agents.get(record.metadata.agent);
  const heard = facts.events
    .filter((event) => event.sessionId === record.id && isOfLaunch(event, record))
    .flatMap((event) => (agent === undefined ? [] : heardFrom(agent, event, { record, nowMs: facts.takenAtMs })));
  const observation = facts.seen.get(record.id);
  if (observation === undefined) return heard;
  return [...heard, { kind: "look", observation }, ...outputFacts(agent, observation, { record, facts })];
}

/** The record as these facts leave it, in memory; the same reference when they are no news. */
export function foldFacts(
  deps: Pick<ObserveDeps, "agents" | "ids">,
  facts: Facts,
  record: SessionRecord,
): SessionRecord {
  const context = { nowMs: facts.takenAtMs, digest: deps.ids.digest };
  const { launchId } = record.metadata;
  return factsOf(deps, facts, record).reduce((folded: SessionRecord, fact) => {
    switch (fact.kind) {
      case "activity":
        return afterSignal(folded, fact.signal, context.nowMs);
      case "conversation":
        return afterNaming(folded, { launchId, agentSessionId: fact.agentSessionId });
      case "look":
        return afterLook(folded, { launchId, observation: fact.observation }, context);
      default:
        return assertNever(fact);
    }
  }, record);
}

/** Why the look failed, each cause once; empty when everything asked for could be seen. */
export function lookFailures(seen: Facts["seen"]): readonly string[] {
  const causes = [...seen.values()]
    .flatMap(({ runtime, process }) => [runtime, process])
    .flatMap((fact) => (fact.kind === "probe_failed" ? [fact.cause] : []));
  return [...new Set(causes)];
}

/** Whether an event was sent by the current launch of the session. */
export function isOfLaunch(event: HookEvent, record: SessionRecord): boolean {
  return event.launchId === record.metadata.launchId;
}

function heardFrom(
  agent: Agent,
  event: HookEvent,
  { record, nowMs }: { readonly record: SessionRecord; readonly nowMs: number },
): readonly Fact[] {
  const signal = event.agent === agent.name ? agent.interpret(event) : undefined;
  if (signal === undefined) return [];
  const { activity, agentSessionId } = signal;
  const { launchId } = record.metadata;
  // A time ahead of now would make every later event look old.
  const atMs = Math.min(event.atMs, nowMs);
  const facts: Fact[] = [];
  if (activity !== null) {
    const heard = { state: activity, confidence: "valid", source: "hook", atMs, launchId } as const;
    facts.push({ kind: "activity", signal: heard });
  }
  if (agentSessionId !== null && !agent.capabilities.pinsSessionId) {
    facts.push({ kind: "conversation", agentSessionId });
  }
  return facts;
}

/** An agent without hooks is read from its terminal, as long as there is no doubt that it lives. */
function outputFacts(
  agent: Agent | undefined,
  { runtime, process }: RuntimeObservation,
  { record, facts }: { readonly record: SessionRecord; readonly facts: Facts },
): readonly Fact[] {
  const lives = process.kind === "alive" || process.kind === "indeterminate";
  if (agent === undefined || agent.capabilities.hooks || runtime.kind !== "alive" || !lives) return [];
  const { launchId } = record.metadata;
  return [
    { kind: "activity", signal: activityFromOutput(runtime.lastOutputAtMs, facts.takenAtMs, launchId) },
  ];
}
