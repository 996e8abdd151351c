import type { ProjectId, SessionId } from "../../domain/ids.ts";
import { isTerminal } from "../../domain/lifecycle.ts";
import type { SessionRecord } from "../../domain/session.ts";
import type { SessionRows, UnreadableSession } from "../../ports/session-store.ts";
import { requireSession } from "../session-refs.ts";
import { foldFacts } from "./fold-facts.ts";
import { gatherFacts, lookFailures, type ObserveDeps, type Scope } from "./gather-facts.ts";

export interface ListOptions {
  /** `null` means all projects. */
  readonly projectId: ProjectId | null;
  /** Skips the live look and the inbox: what is stored is shown. */
  readonly stored: boolean;
}

export interface SessionList {
  /** By creation, then by number. */
  readonly sessions: readonly SessionRecord[];
  /** Those whose row cannot be read, in the same order: nothing can be said of them. */
  readonly unreadable: readonly UnreadableSession[];
  /** Unix milliseconds; `null` when the look was skipped. */
  readonly observedAtMs: number | null;
  /** Why a look failed, each cause once; empty when all could be seen. */
  readonly lookFailures: readonly string[];
}

/**
 * Sessions as they are now: stored rows, pending events and one live look, folded in memory through the
 * rules that a changing command saves with. Writes nothing, and so dates nothing: an end that is only seen
 * has no time yet.
 */
export async function listSessions(
  deps: ObserveDeps,
  { projectId, stored }: ListOptions,
): Promise<SessionList> {
  const load = () => deps.store.rows(projectId ?? undefined);
  return stored ? storedOnly(load()) : overlay(deps, load);
}

/**
 * One session as `listSessions` shows it.
 *
 * @throws AoError session_not_found
 * @throws AoError store_corrupt when its row cannot be read.
 */
export async function getSession(
  deps: ObserveDeps,
  id: SessionId,
  { stored }: Pick<ListOptions, "stored">,
): Promise<SessionRecord> {
  const record = requireSession(deps, id);
  if (stored) return record;
  const { sessions } = await overlay(deps, () => [requireSession(deps, id)]);
  return sessions[0] ?? record;
}

function storedOnly(rows: SessionRows): SessionList {
  return { ...rows, observedAtMs: null, lookFailures: [] };
}

async function overlay(deps: ObserveDeps, load: Scope["load"]): Promise<SessionList> {
  const facts = await gatherFacts(deps, { load, lookAt: ({ lifecycle }) => !isTerminal(lifecycle) });
  return {
    sessions: facts.records.map((record) => withStoredTimes(record, foldFacts(deps, facts, record))),
    unreadable: facts.unreadable,
    observedAtMs: facts.takenAtMs,
    lookFailures: lookFailures(facts),
  };
}

/** When a row is written is what dates it; the time of a look is not. */
function withStoredTimes(stored: SessionRecord, seen: SessionRecord): SessionRecord {
  if (seen === stored) return stored;
  const { terminatedAtMs, updatedAtMs } = stored;
  return { ...seen, terminatedAtMs, updatedAtMs };
}
