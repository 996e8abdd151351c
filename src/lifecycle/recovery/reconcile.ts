import { type AoErrorCode, codeOf, errorMessage } from "../../domain/errors.ts";
import { isTerminal } from "../../domain/lifecycle.ts";
import type { SessionRecord } from "../../domain/session.ts";
import { deriveStatus } from "../../domain/status.ts";
import type { SessionDeps } from "../deps.ts";
import { type ContinueOptions, continueGoals, type GoalsContinued } from "../goals/continue-goals.ts";
import { settleGoals } from "../goals/settle-goals.ts";
import { deliverQueued, type QueuedDeliveries } from "../messages/deliver-queued.ts";
import { type ObserveResult, observeSessions } from "../observe/observe-sessions.ts";
import { crossing } from "../operations/crossing.ts";
import { type TendedPools, tendPools } from "../pool/tend-pools.ts";
import { describeUnreadable } from "../session-refs.ts";
import type { ReconcileResult, Transition } from "./reconcile-result.ts";
import { recoverOperations } from "./recover-operations.ts";
import type { RecoveryError } from "./recovery.ts";
import { sweepDrafts } from "./sweep-drafts.ts";
import { sweepLaunches } from "./sweep-launches.ts";
import { type UndoneOrphans, undoOrphans } from "./undo-orphans.ts";

interface Observed {
  readonly observed: number;
  readonly transitions: readonly Transition[];
  readonly marks: ObserveResult["marks"];
  readonly errors: readonly RecoveryError[];
}

export interface ReconcileOptions extends ContinueOptions {
  /** Also frees worktrees of nobody that hold work, once that is kept; no when not given. */
  readonly salvage?: boolean;
}

/**
 * One tick: takes over what dead processes left, looks at every live session once and saves what it saw, takes up
 * the goals whose agents rest, delivers the messages that wait and can be delivered, tidies the inbox, takes away
 * what nobody owns, makes worktrees ahead where they are asked for, deletes the files of removed worktrees, of
 * launches that are over, and what broken-off writes left. What cannot be done is among the errors and stops nothing else. A second tick at once changes
 * nothing.
 *
 * @throws AoError when the store cannot be used.
 */
export async function reconcile(deps: SessionDeps, options: ReconcileOptions = {}): Promise<ReconcileResult> {
  const { operations, errors } = await recoverOperations(deps);
  const unseen = { observed: 0, transitions: [], marks: null };
  const seen = await orError<Omit<Observed, "errors">>("sessions", unseen, () => observe(deps));
  const taken = await orError<Omit<GoalsContinued, "errors">>("goals", { goals: [] }, () =>
    continueGoals(deps, options),
  );
  const sent = await orError<Omit<QueuedDeliveries, "errors">>("messages", { messages: [] }, () =>
    deliverQueued(deps),
  );
  const settled = await orError("goals", {}, () => settleGoals(deps));
  const tidied = await orError("inbox", { setAside: 0 }, async () => {
    return { setAside: await deps.inbox.tidy(deps.clock.nowMs()), errors: [] };
  });
  const undone = await orError<Omit<UndoneOrphans, "errors">>("orphans", { orphans: [] }, () =>
    undoOrphans(deps, { marks: seen.marks, salvage: options.salvage === true }),
  );
  const tended = await orError<Omit<TendedPools, "errors">>("pools", { pool: [] }, () =>
    tendPools(deps, { projectId: null, fills: true }),
  );
  const swept = await orError("trash", {}, async () => {
    const { left } = await crossing(deps, "reconcile.trash", () => deps.workspace.sweepTrash());
    return { errors: left.map(({ path, why }) => errorOf(`trash ${path}`, "data_dir_unusable", why)) };
  });
  const left = await orError("launches", {}, async () => ({ errors: await sweepLaunches(deps) }));
  const cleared = await orError("drafts", {}, async () => {
    await sweepDrafts(deps);
    await deps.locks.sweep();
    return { errors: [] };
  });
  return {
    observed: seen.observed,
    transitions: seen.transitions,
    operations,
    goals: taken.goals,
    messages: sent.messages,
    orphans: undone.orphans,
    pool: tended.pool,
    setAside: tidied.setAside,
    errors: [
      errors,
      ...[seen, taken, sent, settled, tidied, undone, tended, swept, left, cleared].map(
        (part) => part.errors,
      ),
    ].flat(),
  };
}

async function observe(deps: SessionDeps): Promise<Observed> {
  const before = new Map(deps.store.rows().sessions.map((record) => [record.id, record]));
  const { sessions, unreadable, marks, lookFailures, unsaved } = await observeSessions(deps);
  return {
    marks,
    observed: sessions.filter(({ id }) => isLive(before.get(id))).length,
    transitions: sessions.flatMap((record) => transitionOf(before.get(record.id), record) ?? []),
    errors: [
      ...lookFailures.map((message) => errorOf("runtime", "runtime_unavailable", message)),
      ...unreadable.map((row) => errorOf(`session ${row.id}`, "store_corrupt", describeUnreadable(row))),
      ...unsaved.map(({ id, cause }) => errorOf(`transcript ${id}`, "data_dir_unusable", cause)),
    ],
  };
}

function errorOf(subject: string, code: AoErrorCode, message: string): RecoveryError {
  return { subject, code, message };
}

function isLive(record: SessionRecord | undefined): boolean {
  return record !== undefined && !isTerminal(record.lifecycle);
}

function transitionOf(before: SessionRecord | undefined, after: SessionRecord): Transition | null {
  if (before === undefined) return null;
  const [from, to] = [deriveStatus(before.lifecycle), deriveStatus(after.lifecycle)];
  return from === to ? null : { id: after.id, from, to, reason: after.lifecycle.session.reason };
}

async function orError<Result extends object>(
  subject: string,
  otherwise: Result,
  work: () => Promise<Result & { readonly errors: readonly RecoveryError[] }>,
): Promise<Result & { readonly errors: readonly RecoveryError[] }> {
  try {
    return await work();
  } catch (error) {
    const code = codeOf(error);
    return { ...otherwise, errors: [{ subject, code, message: errorMessage(error) }] };
  }
}
