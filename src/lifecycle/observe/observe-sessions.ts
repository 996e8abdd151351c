import type { HookEvent } from "../../domain/facts.ts";
import { parseSessionId, type SessionId } from "../../domain/ids.ts";
import { isTerminal } from "../../domain/lifecycle.ts";
import type { SessionRecord } from "../../domain/session.ts";
import type { BookChange } from "../../domain/turn-book.ts";
import type { UnreadableSession } from "../../ports/session-store.ts";
import { type Change, type LifecycleManager, lifecycleManager } from "../lifecycle-manager.ts";
import { hasRow } from "../session-refs.ts";
import { removeEndedLaunch } from "../teardown.ts";
import { type FeedOptions, feedTranscripts, tells } from "../transcripts/feed-transcripts.ts";
import type { Unsaved } from "../transcripts/unsaved.ts";
import { keepCheckpoints, retryCheckpoint } from "../turns/keep-checkpoints.ts";
import { recordTurns } from "../turns/record-turns.ts";
import { type EndedTurns, settleEnded } from "../turns/settle-ended.ts";
import { factsOf, foldFacts } from "./fold-facts.ts";
import {
  eventsOf,
  type Facts,
  gatherFacts,
  isOfLaunch,
  lookFailures,
  type ObserveDeps,
  type SaveDeps,
} from "./gather-facts.ts";

/** Far longer than any spawn takes. */
const STRAY_KEPT_MS = 24 * 3_600_000;

export interface ObserveResult {
  /** The sessions asked for as they now stand, in the order asked for, or by creation. */
  readonly sessions: readonly SessionRecord[];
  /** Those of them whose row was written. */
  readonly changed: readonly SessionId[];
  /** Of all sessions, those whose row cannot be read. */
  readonly unreadable: readonly UnreadableSession[];
  /** Why a look failed, each cause once; empty when all could be seen. */
  readonly lookFailures: readonly string[];
  /** As of `Facts`. */
  readonly marks: Facts["marks"];
  /** Those of them whose transcript could not be saved; what was said waits in the inbox. */
  readonly unsaved: readonly Unsaved[];
}

/**
 * What `listSessions` shows, saved: pending events and one look at the live sessions go through the
 * lifecycle manager, then the events are removed. Without `ids` all sessions; unknown ids are left out.
 *
 * @throws AoError data_dir_unusable when the inbox cannot be read or changed.
 */
export async function observeSessions(deps: SaveDeps, ids?: readonly SessionId[]): Promise<ObserveResult> {
  const load = () => (ids === undefined ? deps.store.rows() : ids.flatMap((id) => deps.store.get(id) ?? []));
  const facts = await gatherFacts(deps, { load, lookAt: ({ lifecycle }) => !isTerminal(lifecycle) });
  const saved = await saveFacts(deps, facts);
  const { unreadable, marks } = facts;
  return { ...saved, unreadable, marks, lookFailures: lookFailures(facts) };
}

interface Saved extends Change {
  /** What changed of its turns and messages. */
  readonly turns: readonly BookChange[];
}

/**
 * Saves what was gathered: what was said to the transcripts, then all of one session in one write with its turns
 * and messages. Then removes the events that are of no more use and sets aside those that nobody will apply; those
 * whose words could not be saved stay. Saving the same events twice changes nothing.
 *
 * @throws AoError data_dir_unusable when the inbox cannot be changed.
 */
export async function saveFacts(
  deps: SaveDeps,
  facts: Facts,
  options: FeedOptions = {},
): Promise<Pick<ObserveResult, "sessions" | "changed" | "unsaved">> {
  const manager = lifecycleManager(deps);
  const unsaved = await feedTranscripts(deps, facts, options);
  const waiting = waitingEvents(deps, facts, unsaved);
  const isOver = (eventId: string) => !waiting.has(eventId);
  const saved = facts.records.map((record) => saveRecord(deps, facts, { record, manager }));
  await deps.inbox.remove(facts.records.flatMap((record) => spentEvents(facts, record)).filter(isOver));
  const late = facts.records.flatMap((record) => lateEvents(facts, record)).filter(isOver);
  await deps.inbox.setAside([...late, ...strayEvents(deps, facts)]);
  const now = saved.map(({ record }) => record);
  await keepFiles(deps, now, [...saved, ...settleEnded(deps, now)]);
  const wasLive = new Set(facts.records.flatMap(({ id, lifecycle }) => (isTerminal(lifecycle) ? [] : [id])));
  for (const record of now) if (wasLive.has(record.id)) await dropEndedLaunch(deps, record);
  return {
    sessions: now,
    changed: saved.filter(({ changed }) => changed).map(({ record }) => record.id),
    unsaved,
  };
}

/** At the ends of turns that were just recorded, and of those before where that failed. */
async function keepFiles(
  deps: SaveDeps,
  now: readonly SessionRecord[],
  changes: readonly EndedTurns[],
): Promise<void> {
  for (const { record, turns } of changes) await keepCheckpoints(deps, record, turns);
  const changed = new Set(changes.flatMap(({ record, turns }) => (turns.length > 0 ? [record.id] : [])));
  const resting = now.filter(({ id, lifecycle }) => !isTerminal(lifecycle) && !changed.has(id));
  for (const record of resting) await retryCheckpoint(deps, record);
}

/** Once an agent is seen to have ended. What cannot be removed now is for `reconcile`, which tells why. */
async function dropEndedLaunch(deps: SaveDeps, record: SessionRecord): Promise<void> {
  if (!isTerminal(record.lifecycle)) return;
  await removeEndedLaunch(deps, record).catch(() => undefined);
}

/** The events of sessions whose transcript could not be saved, as far as they say something for it. */
function waitingEvents(
  { agents }: SaveDeps,
  { events }: Facts,
  unsaved: readonly Unsaved[],
): ReadonlySet<string> {
  const ofThem = unsaved.flatMap(({ id }) => events.get(id) ?? []);
  return new Set(ofThem.filter((event) => tells(agents, event)).map(({ id }) => id));
}

function saveRecord(
  deps: SaveDeps,
  facts: Facts,
  { record, manager }: { readonly record: SessionRecord; readonly manager: LifecycleManager },
): Saved {
  // Most looks are no news; then not even a transaction is opened.
  const isNews = foldFacts(deps, facts, record) !== record || hasLastWords(facts, record);
  if (!isNews) return { record, changed: false, turns: [] };
  const learnt = factsOf(deps, facts, record);
  let turns: readonly BookChange[] = [];
  const change = manager.observeFacts(record.id, learnt, (before, nowMs) => {
    turns = recordTurns(deps, { before, facts: learnt, nowMs });
  });
  return { ...(change ?? { record, changed: false }), turns };
}

/** What the agent of a session that is over still told: its row does not change, its turn may. */
function hasLastWords(facts: Facts, record: SessionRecord): boolean {
  return isTerminal(record.lifecycle) && eventsOf(facts, record).some((event) => isOfLaunch(event, record));
}

/** Of sessions without a row, which a spawn under way may still get, those that wait for a day. */
function strayEvents(deps: ObserveDeps, { events, takenAtMs }: Facts): readonly string[] {
  return [...events].flatMap(([sessionId, ofSession]) => {
    const old = ofSession.filter((event) => isOlderThan(STRAY_KEPT_MS, event, takenAtMs));
    const id = old.length === 0 ? undefined : parseSessionId(sessionId);
    return id === undefined || hasRow(deps, id) ? [] : old.map((event) => event.id);
  });
}

/** All that they say is saved by now, receipts too. */
function spentEvents(facts: Facts, record: SessionRecord): readonly string[] {
  return eventsOf(facts, record)
    .filter((event) => isOfLaunch(event, record))
    .map(({ id }) => id);
}

/** Those of an older launch. A terminal session may be on its way back: what its next launch says waits. */
function lateEvents(facts: Facts, record: SessionRecord): readonly string[] {
  if (isTerminal(record.lifecycle)) return [];
  return eventsOf(facts, record)
    .filter((event) => !isOfLaunch(event, record))
    .map(({ id }) => id);
}

/** Also of a time as far ahead, which a clock that was set back leaves behind. */
function isOlderThan(ageMs: number, { atMs }: HookEvent, nowMs: number): boolean {
  return Math.abs(nowMs - atMs) > ageMs;
}
