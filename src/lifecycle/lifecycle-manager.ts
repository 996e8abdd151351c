import type { AgentExit } from "../domain/agent-exit.ts";
import { applyPullRequest } from "../domain/apply-pull-request.ts";
import { completeSpawn, type KillReason, requestKill } from "../domain/apply-requests.ts";
import { AoError } from "../domain/errors.ts";
import type { PullRequestFacts } from "../domain/facts.ts";
import type { LaunchId, SessionId } from "../domain/ids.ts";
import { isTerminal } from "../domain/lifecycle.ts";
import type { DeletedBranch, ProcessIdentity, RuntimeHandle, SessionRecord } from "../domain/session.ts";
import type { SessionDeps } from "./deps.ts";
import { afterFacts, type Fact, withExit, withLifecycle } from "./record-changes.ts";
import { type RestorePatch, reopen } from "./reopen.ts";
import { sessionChanged, sessionCreated } from "./session-change.ts";
import { free, onBranch, unfree, withoutBranch, withWork } from "./workspace-changes.ts";

/** Tries for a row that others keep writing; each loses only to a write that succeeded. */
const MAX_TRIES = 20;

/** What a request or an observation came to. */
export interface Change {
  /** The row as it stands now. */
  readonly record: SessionRecord;
  /** It was written; false means that it stood like this before. */
  readonly changed: boolean;
}

export interface StartedSession {
  readonly handle: RuntimeHandle;
  readonly process: ProcessIdentity;
}

/**
 * The only writer of session rows. Every change loads, decides with a pure rule, compares, and saves
 * with a revision check in one transaction, and tells the change log of it; nothing is written when nothing
 * changed.
 *
 * Methods that may return `undefined` ignore an unknown session. All may throw what the store throws.
 */
export interface LifecycleManager {
  /**
   * Adds the row of a session whose runtime is up, with what it was asked to do.
   *
   * @throws AoError internal when the id is taken.
   */
  onSpawnInitiated(record: SessionRecord, prompt?: string | null): SessionRecord;
  /**
   * The start of a session's agent is complete; it is heard from next.
   *
   * @throws AoError internal when the session is unknown.
   * @throws AoError not_running when the session was ended meanwhile.
   */
  onSpawnCompleted(id: SessionId, started: StartedSession): SessionRecord;
  /** Ends a session; one that is over already stays as it is. */
  onKillRequested(id: SessionId, reason: KillReason, note: string | null): Change | undefined;
  /** How the agent of one launch ended, learnt on the way to something else. Ignored after another launch. */
  onAgentExited(id: SessionId, exit: AgentExit, launchId: LaunchId): Change | undefined;
  /**
   * Opens a terminal session again for its new launch. A conversation that it leaves behind for another one
   * stays on record.
   *
   * @throws AoError not_restorable when it is not terminal.
   * @throws AoError internal when the session is unknown.
   */
  onRestoreInitiated(id: SessionId, patch: RestorePatch): SessionRecord;
  /** The branch that a terminal session's worktree has checked out. Ignored for one that was opened again. */
  onBranchCheckedOut(id: SessionId, branch: string): Change | undefined;
  /**
   * A terminal session's branch is about to be deleted; a restore makes it again. `null`: it was not after all. Ignored
   * for one that is not over.
   */
  onBranchDeleted(id: SessionId, deleted: DeletedBranch | null): Change | undefined;
  /**
   * A terminal session's worktree is gone, and what it held is in the salvage; not given, that stays as it is.
   * Ignored for one that was opened again.
   */
  onWorkspaceFreed(id: SessionId, salvageRef?: string | null): Change | undefined;
  /**
   * All that was learnt of a session at once: one write, one revision, one entry of the change log; `alongside`
   * belongs to the same transaction, also when the row stays as it is, and undoes it all by a throw.
   */
  observeFacts(id: SessionId, facts: readonly Fact[], alongside?: Alongside): Change | undefined;
  /** What a terminal session's worktree holds is in the salvage. Ignored for one that was opened again, or is freed. */
  onWorkKept(id: SessionId, salvageRef: string): Change | undefined;
  /** A fork no longer has what was said before it. */
  onTranscriptPruned(id: SessionId): Change | undefined;
  /** A terminal session's worktree was made again. Ignored for one that is not over. */
  onWorkspaceRestored(id: SessionId, workspacePath: string): Change | undefined;
  observePullRequest(id: SessionId, facts: PullRequestFacts): Change | undefined;
}

/** What every change of a session's row needs. */
export type LifecycleDeps = Pick<SessionDeps, "store" | "changes" | "clock" | "ids">;
/** Says what a row becomes; the same reference for no change. A throw refuses and changes nothing. */
type Decide = (record: SessionRecord, nowMs: number) => SessionRecord;
/** What is written together with a row. It gets the row as it was before. */
type Alongside = (before: SessionRecord, nowMs: number) => void;

/** The lifecycle manager on a store. Keeps nothing itself: each call reads its row anew. */
export function lifecycleManager(deps: LifecycleDeps): LifecycleManager {
  const change = (id: SessionId, decide: Decide) => changeRow(deps, id, { decide });
  const learn = (id: SessionId, facts: readonly Fact[], alongside?: Alongside) =>
    changeRow(deps, id, {
      decide: (record, nowMs) => afterFacts(record, facts, { nowMs, digest: deps.ids.digest }),
      alongside,
    });
  return {
    onSpawnInitiated: (record, prompt = null) => insertRow(deps, record, prompt),
    onSpawnCompleted: (id, started) =>
      known(
        id,
        change(id, (record) => complete(record, started)),
      ),
    onKillRequested: (id, reason, note) =>
      change(id, (record, nowMs) => kill(record, { reason, note, nowMs })),
    onAgentExited: (id, exit, launchId) =>
      change(id, (record) => (record.metadata.launchId === launchId ? withExit(record, exit) : record)),
    onRestoreInitiated: (id, patch) =>
      known(
        id,
        change(id, (record) => reopen(record, patch)),
      ),
    onBranchCheckedOut: (id, branch) => change(id, (record) => onBranch(record, branch)),
    onBranchDeleted: (id, deleted) => change(id, (record) => withoutBranch(record, deleted)),
    onWorkspaceFreed: (id, salvageRef) => change(id, (record, nowMs) => free(record, { nowMs, salvageRef })),
    onWorkKept: (id, salvageRef) => change(id, (record) => withWork(record, salvageRef)),
    onWorkspaceRestored: (id, workspacePath) => change(id, (record) => unfree(record, workspacePath)),
    onTranscriptPruned: (id) => change(id, withoutPast),
    observeFacts: learn,
    observePullRequest: (id, facts) =>
      change(id, (record, nowMs) => withLifecycle(record, applyPullRequest(record.lifecycle, facts), nowMs)),
  };
}

interface RowChange {
  readonly decide: Decide;
  readonly alongside?: Alongside | undefined;
}

function changeRow(deps: LifecycleDeps, id: SessionId, change: RowChange): Change | undefined {
  for (let tries = 1; tries <= MAX_TRIES; tries++) {
    const outcome = deps.store.transaction(() => tryChange(deps, id, change));
    if (outcome !== "lost_race") return outcome;
  }
  throw new AoError("store_busy", `session ${id} was written by others ${MAX_TRIES} times in a row`, {
    hint: "try again",
  });
}

function tryChange(
  deps: LifecycleDeps,
  id: SessionId,
  { decide, alongside }: RowChange,
): Change | undefined | "lost_race" {
  const read = deps.store.get(id);
  if (read === undefined) return undefined;
  const nowMs = deps.clock.nowMs();
  const outcome = saveDecided(deps, { read, decided: decide(read, nowMs), nowMs });
  if (outcome !== "lost_race") alongside?.(read, nowMs);
  return outcome;
}

function saveDecided(
  deps: LifecycleDeps,
  {
    read,
    decided,
    nowMs,
  }: { readonly read: SessionRecord; readonly decided: SessionRecord; readonly nowMs: number },
): Change | "lost_race" {
  if (decided === read) return { record: read, changed: false };
  const { revision } = read.lifecycle;
  const record: SessionRecord = {
    ...decided,
    updatedAtMs: Math.max(read.updatedAtMs, nowMs),
    lifecycle: { ...decided.lifecycle, revision: revision + 1 },
  };
  if (!deps.store.save(record, revision)) return "lost_race";
  deps.changes.append(sessionChanged(read, record, nowMs));
  return { record, changed: true };
}

function insertRow(
  { store, changes, clock }: LifecycleDeps,
  record: SessionRecord,
  prompt: string | null,
): SessionRecord {
  return store.transaction(() => {
    if (!store.insert(record, prompt)) throw new AoError("internal", `session id ${record.id} is taken`);
    changes.append(sessionCreated(record, clock.nowMs()));
    return record;
  });
}

function known(id: SessionId, change: Change | undefined): SessionRecord {
  if (change !== undefined) return change.record;
  throw new AoError("internal", `session ${id} has no row`);
}

function complete(record: SessionRecord, { handle, process }: StartedSession): SessionRecord {
  if (isTerminal(record.lifecycle)) {
    throw new AoError("not_running", `session ${record.id} was ended while it started`);
  }
  const metadata = { ...record.metadata, runtime: handle, process };
  return { ...record, metadata, lifecycle: completeSpawn(record.lifecycle) };
}

function kill(
  record: SessionRecord,
  request: { readonly reason: KillReason; readonly note: string | null; readonly nowMs: number },
): SessionRecord {
  if (isTerminal(record.lifecycle)) return record;
  const ended = withLifecycle(record, requestKill(record.lifecycle, request.reason), request.nowMs);
  return { ...ended, metadata: { ...ended.metadata, killNote: request.note } };
}

function withoutPast(record: SessionRecord): SessionRecord {
  const { fork } = record.metadata;
  if (fork === undefined || fork.inherits.length === 0) return record;
  return { ...record, metadata: { ...record.metadata, fork: { ...fork, inherits: [] } } };
}
