import { type AgentExit, exitSeen } from "../domain/agent-exit.ts";
import { applyActivitySignal } from "../domain/apply-activity-signal.ts";
import { applyRuntimeObservation, type ObservationContext } from "../domain/apply-runtime-observation.ts";
import { assertNever } from "../domain/assert-never.ts";
import type { ActivitySignal, Ask, RuntimeObservation } from "../domain/facts.ts";
import { afterHearing, type HeardEvent, isNewEvent } from "../domain/heard-events.ts";
import type { LaunchId } from "../domain/ids.ts";
import { keepSame } from "../domain/keep-same.ts";
import { type CanonicalLifecycle, isTerminal } from "../domain/lifecycle.ts";
import type { SessionRecord } from "../domain/session.ts";
import type { TurnSignal } from "../domain/turn-signal.ts";

/** The agent's doing, or the conversation that the agent of one launch named as its own. */
export type Saying =
  | { readonly kind: "activity"; readonly signal: ActivitySignal }
  | { readonly kind: "conversation"; readonly launchId: LaunchId; readonly agentSessionId: string };

/** A hook event, and all that it says. */
export interface EventFact {
  readonly kind: "event";
  readonly event: HeardEvent;
  readonly says: readonly Saying[];
  /** `undefined` when it says nothing of the agent's doing. */
  readonly asks: Ask | null | undefined;
  /** What it says of a turn. */
  readonly turn?: TurnSignal | null;
}

/** One thing that was learnt of one launch of a session. */
export type Fact =
  | Saying
  | EventFact
  | { readonly kind: "look"; readonly launchId: LaunchId; readonly observation: RuntimeObservation };

/** The record with another lifecycle, ended at `nowMs` when that ends it; the same reference for the same lifecycle. */
export function withLifecycle(
  record: SessionRecord,
  lifecycle: CanonicalLifecycle,
  nowMs: number,
): SessionRecord {
  if (lifecycle === record.lifecycle) return record;
  const endsIt = isTerminal(lifecycle) && !isTerminal(record.lifecycle);
  return { ...record, lifecycle, terminatedAtMs: endsIt ? nowMs : record.terminatedAtMs };
}

/**
 * The record after these facts, in their order; the same reference when they are no news. Facts of another
 * launch change nothing. An event counts once, a look each time.
 */
export function afterFacts(
  record: SessionRecord,
  facts: readonly Fact[],
  context: ObservationContext,
): SessionRecord {
  return keepSame(
    record,
    facts.reduce((sofar, fact) => afterFact(sofar, fact, context), record),
  );
}

function afterFact(record: SessionRecord, fact: Fact, context: ObservationContext): SessionRecord {
  switch (fact.kind) {
    case "activity":
      return afterSignal(record, fact.signal, context.nowMs);
    case "conversation":
      return afterNaming(record, fact);
    case "event":
      return afterEvent(record, fact, context);
    case "look":
      return afterLook(record, fact, context);
    default:
      return assertNever(fact);
  }
}

function afterEvent(
  record: SessionRecord,
  { event, says, asks }: EventFact,
  context: ObservationContext,
): SessionRecord {
  const { launchId, heard } = record.metadata;
  if (event.launchId !== launchId || !isNewEvent(heard, event, context.nowMs)) return record;
  const after = afterFacts(record, says, context);
  if (isTerminal(record.lifecycle)) return after;
  return {
    ...after,
    metadata: { ...after.metadata, heard: afterHearing(heard, event, { asks, nowMs: context.nowMs }) },
  };
}

function afterLook(
  record: SessionRecord,
  seen: { readonly launchId: LaunchId; readonly observation: RuntimeObservation },
  context: ObservationContext,
): SessionRecord {
  if (seen.launchId !== record.metadata.launchId) return record;
  const lifecycle = applyRuntimeObservation(record.lifecycle, seen.observation, context);
  const judged = withLifecycle(record, lifecycle, context.nowMs);
  // Of a session that was over before, only its runtime is refreshed.
  return isTerminal(record.lifecycle) ? judged : withExit(judged, exitSeen(seen.observation.runtime));
}

/** The record with what was learnt of how its agent ended, which is learnt once for a launch. */
export function withExit(record: SessionRecord, exit: AgentExit | null): SessionRecord {
  const isNews = exit !== null && (record.metadata.exit ?? null) === null;
  return isNews ? { ...record, metadata: { ...record.metadata, exit } } : record;
}

function afterSignal(record: SessionRecord, signal: ActivitySignal, nowMs: number): SessionRecord {
  const { launchId } = record.metadata;
  const lifecycle = applyActivitySignal(record.lifecycle, signal, { launchId, nowMs });
  return withLifecycle(record, lifecycle, nowMs);
}

function afterNaming(
  record: SessionRecord,
  named: { readonly launchId: LaunchId; readonly agentSessionId: string },
): SessionRecord {
  const { launchId, agentSessionId } = record.metadata;
  if (named.launchId !== launchId || named.agentSessionId === agentSessionId) return record;
  return { ...record, metadata: { ...record.metadata, agentSessionId: named.agentSessionId } };
}
