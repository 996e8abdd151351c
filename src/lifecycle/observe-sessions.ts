import { assertNever } from "../domain/assert-never.ts";
import type { HookEvent } from "../domain/facts.ts";
import type { SessionId } from "../domain/ids.ts";
import { isTerminal } from "../domain/lifecycle.ts";
import type { SessionRecord } from "../domain/session.ts";
import { type Fact, factsOf, foldFacts } from "./fold-facts.ts";
import {
  eventsOf,
  type Facts,
  gatherFacts,
  isOfLaunch,
  lookFailures,
  type ObserveDeps,
} from "./gather-facts.ts";
import { type Change, type LifecycleManager, lifecycleManager } from "./lifecycle-manager.ts";

/** How long a message's sender, which looks every few milliseconds, can find its receipt. */
const RECEIPT_KEPT_MS = 30_000;

export interface ObserveResult {
  /** The sessions asked for as they now stand, in the order asked for, or by creation. */
  readonly sessions: readonly SessionRecord[];
  /** Those of them whose row was written. */
  readonly changed: readonly SessionId[];
  /** Why a look failed, each cause once; empty when all could be seen. */
  readonly lookFailures: readonly string[];
}

/**
 * What `listSessions` shows, saved: pending events and one look at the live sessions go through the
 * lifecycle manager, then the events are removed. Without `ids` all sessions; unknown ids are left out.
 */
export async function observeSessions(deps: ObserveDeps, ids?: readonly SessionId[]): Promise<ObserveResult> {
  const load = () => (ids === undefined ? deps.store.list() : ids.flatMap((id) => deps.store.get(id) ?? []));
  const facts = await gatherFacts(deps, { load, lookAt: ({ lifecycle }) => !isTerminal(lifecycle) });
  return { ...(await saveFacts(deps, facts)), lookFailures: lookFailures(facts) };
}

/**
 * Saves what was gathered, then removes the events that are of no more use. Saving the same events twice
 * changes nothing, so those that a message under way may wait for stay a while.
 */
export async function saveFacts(
  deps: ObserveDeps,
  facts: Facts,
): Promise<Pick<ObserveResult, "sessions" | "changed">> {
  const manager = lifecycleManager(deps);
  const saved = facts.records.map((record) => saveRecord(deps, facts, { record, manager }));
  await deps.inbox.remove(facts.records.flatMap((record) => spentEvents(deps, facts, record)));
  return {
    sessions: saved.map(({ record }) => record),
    changed: saved.filter(({ changed }) => changed).map(({ record }) => record.id),
  };
}

function saveRecord(
  deps: ObserveDeps,
  facts: Facts,
  { record, manager }: { readonly record: SessionRecord; readonly manager: LifecycleManager },
): Change {
  // Most looks are no news; then not even a transaction is opened.
  if (foldFacts(deps, facts, record) === record) return { record, changed: false };
  return factsOf(deps, facts, record).reduce<Change>(
    (sofar, fact) => {
      const change = saveFact(manager, record.id, fact);
      return change === undefined ? sofar : { ...change, changed: sofar.changed || change.changed };
    },
    { record, changed: false },
  );
}

function saveFact(manager: LifecycleManager, id: SessionId, fact: Fact): Change | undefined {
  switch (fact.kind) {
    case "activity":
      return manager.observeActivity(id, fact.signal);
    case "conversation":
      return manager.onAgentSessionId(id, fact.agentSessionId, fact.launchId);
    case "look":
      return manager.observeRuntime(id, fact.observation, fact.launchId);
    default:
      return assertNever(fact);
  }
}

function spentEvents(deps: ObserveDeps, facts: Facts, record: SessionRecord): readonly string[] {
  const isOver = isTerminal(record.lifecycle);
  const confirms = deps.agents.get(record.metadata.agent)?.capabilities.receipts === true;
  // A terminal session may be on its way back: what its next launch says is not lost then.
  const isSpent = (event: HookEvent) =>
    isOfLaunch(event, record) ? isOver || !confirms || isStale(event, facts.takenAtMs) : !isOver;
  return eventsOf(facts, record)
    .filter(isSpent)
    .map(({ id }) => id);
}

function isStale({ atMs }: HookEvent, nowMs: number): boolean {
  return Math.abs(nowMs - atMs) > RECEIPT_KEPT_MS;
}
