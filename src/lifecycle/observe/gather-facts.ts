import type { HookEvent, RuntimeObservation } from "../../domain/facts.ts";
import type { LaunchId, SessionId } from "../../domain/ids.ts";
import type { SessionRecord } from "../../domain/session.ts";
import type { LoggedActivity } from "../../ports/agent.ts";
import type { RuntimeSurvey } from "../../ports/runtime.ts";
import type { SessionRows } from "../../ports/session-store.ts";
import type { SessionDeps } from "../deps.ts";
import type { LifecycleDeps } from "../lifecycle-manager.ts";
import { runtimeTarget } from "../session-refs.ts";
import { lastHeardMs, mayHaveLostWords } from "./last-heard.ts";
import { withOwnEvents } from "./own-events.ts";
import { readLogs } from "./read-logs.ts";

export type ObserveDeps = LifecycleDeps & Pick<SessionDeps, "runtime" | "inbox" | "agents" | "dataDir">;
/** What saving what was observed needs: turns and messages are part of it. */
export type SaveDeps = ObserveDeps &
  Pick<SessionDeps, "turns" | "messages" | "operations" | "checkpoints"> &
  Pick<SessionDeps, "transcripts" | "locks" | "files" | "dataDir" | "boundary">;

/** What the world says of some sessions, next to what is stored. */
export interface Facts {
  /** The rows as they were read, after the events. */
  readonly records: readonly SessionRecord[];
  /** Rows that could not be read. */
  readonly unreadable: SessionRows["unreadable"];
  /** Pending events by session id, oldest first; also of sessions that are not among the records. */
  readonly events: ReadonlyMap<string, readonly HookEvent[]>;
  readonly seen: ReadonlyMap<SessionId, RuntimeObservation>;
  /** All runtimes that the look listed; `null` when it cannot tell of all, or nothing was looked at. */
  readonly marks: RuntimeSurvey["marks"];
  /** What the own logs of agents say of this launch: of live ones that have told nothing by hooks, and behind them. */
  readonly logged: ReadonlyMap<SessionId, LoggedActivity>;
  /** What the terminals of live agents show that can only be read from there. */
  readonly screens: ReadonlyMap<SessionId, readonly string[]>;
  readonly takenAtMs: number;
}

export interface Scope {
  readonly load: () => SessionRows | readonly SessionRecord[];
  /** Which of them to look at; those without a runtime are left out anyway. */
  readonly lookAt: (record: SessionRecord) => boolean;
  /** Only what this launch told is read. */
  readonly launchId?: LaunchId;
}

/**
 * Reads inbox, rows, what agents at work tell in files of their own, and runtimes, in this order; the runtimes
 * with one look, or none when there is nothing to look at, then the own logs of agents that have told nothing by
 * hooks, or nothing more for a while though they were at work, and the screens of those whose log tells nothing
 * either and that were never heard. Changes nothing.
 *
 * @throws AoError data_dir_unusable when the inbox cannot be read.
 */
export async function gatherFacts(deps: ObserveDeps, { load, lookAt, launchId }: Scope): Promise<Facts> {
  // Events first: a row that is read after an event is at least as new as the launch that sent it.
  const pending = bySession(await deps.inbox.pending(launchId));
  const { sessions: records, unreadable } = rowsOf(load());
  const events = await withOwnEvents(deps, pending, records);
  const targets = records.filter(lookAt).flatMap((record) => runtimeTarget(record) ?? []);
  const { seen, marks } = targets.length === 0 ? UNSEEN : await deps.runtime.survey(targets);
  const silent = records.filter((record) => isSilent({ seen, events }, record));
  const asked = records.filter((record) => mayHaveLostWords(events, record, deps.clock.nowMs()));
  const logged = await readLogs(deps, [
    ...silent.map((record) => ({ record, heardAtMs: null })),
    ...asked.map((record) => ({ record, heardAtMs: lastHeardMs(events, record) })),
  ]);
  const takenAtMs = deps.clock.nowMs();
  const facts = { records, unreadable, events, seen, marks, logged, screens: new Map(), takenAtMs };
  const shown = silent.filter((record) => !logged.has(record.id) && isReadFromScreen(deps, record));
  if (shown.length === 0) return facts;
  const screens = await deps.runtime.screens(shown.flatMap((record) => runtimeTarget(record) ?? []));
  return { ...facts, screens };
}

const UNSEEN: RuntimeSurvey = { seen: new Map(), marks: null };

/** Whether an agent lives, and has told nothing by hooks in its launch. */
function isSilent(facts: Pick<Facts, "seen" | "events">, record: SessionRecord): boolean {
  if (lastHeardMs(facts.events, record) !== null) return false;
  return facts.seen.get(record.id)?.runtime.kind === "alive";
}

function isReadFromScreen({ agents }: ObserveDeps, { lifecycle, metadata }: SessionRecord): boolean {
  return lifecycle.activity.source !== "native" && agents.get(metadata.agent)?.screen !== undefined;
}

function rowsOf(loaded: SessionRows | readonly SessionRecord[]): SessionRows {
  return "unreadable" in loaded ? loaded : { sessions: loaded, unreadable: [] };
}

/** Pending events of one session, oldest first. */
export function eventsOf({ events }: Pick<Facts, "events">, { id }: SessionRecord): readonly HookEvent[] {
  return events.get(id) ?? [];
}

/** Whether an event was sent by the current launch of the session. */
export function isOfLaunch(event: HookEvent, { metadata }: SessionRecord): boolean {
  return event.launchId === metadata.launchId;
}

/** Why a look failed, each cause once; empty when everything asked for could be seen. */
export function lookFailures({ seen }: Pick<Facts, "seen">): readonly string[] {
  const causes = [...seen.values()]
    .flatMap(({ runtime, process }) => [runtime, process])
    .flatMap((fact) => (fact.kind === "probe_failed" ? [fact.cause] : []));
  return [...new Set(causes)];
}

function bySession(events: readonly HookEvent[]): Map<string, HookEvent[]> {
  const grouped = new Map<string, HookEvent[]>();
  for (const event of events) {
    const known = grouped.get(event.sessionId);
    if (known === undefined) grouped.set(event.sessionId, [event]);
    else known.push(event);
  }
  return grouped;
}
