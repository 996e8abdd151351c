import { applyActivitySignal } from "../domain/apply-activity-signal.ts";
import { applyRuntimeObservation, type ObservationContext } from "../domain/apply-runtime-observation.ts";
import type { ActivitySignal, RuntimeObservation } from "../domain/facts.ts";
import type { LaunchId } from "../domain/ids.ts";
import { type CanonicalLifecycle, isTerminal } from "../domain/lifecycle.ts";
import type { SessionRecord } from "../domain/session.ts";

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

/** What was seen of one launch of a session; nothing changes when it was launched anew since. */
export function afterLook(
  record: SessionRecord,
  seen: { readonly launchId: LaunchId; readonly observation: RuntimeObservation },
  context: ObservationContext,
): SessionRecord {
  if (seen.launchId !== record.metadata.launchId) return record;
  return withLifecycle(
    record,
    applyRuntimeObservation(record.lifecycle, seen.observation, context),
    context.nowMs,
  );
}

/** What was heard of the agent's doing. */
export function afterSignal(record: SessionRecord, signal: ActivitySignal, nowMs: number): SessionRecord {
  return withLifecycle(
    record,
    applyActivitySignal(record.lifecycle, signal, record.metadata.launchId),
    nowMs,
  );
}

/** The conversation that the agent of one launch named as its own; nothing changes after another launch. */
export function afterNaming(
  record: SessionRecord,
  named: { readonly launchId: LaunchId; readonly agentSessionId: string },
): SessionRecord {
  const { launchId, agentSessionId } = record.metadata;
  if (named.launchId !== launchId || named.agentSessionId === agentSessionId) return record;
  return { ...record, metadata: { ...record.metadata, agentSessionId: named.agentSessionId } };
}
