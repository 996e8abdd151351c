import { AoError } from "../../domain/errors.ts";
import type { SessionId, TurnId } from "../../domain/ids.ts";
import { isLeased, type LeasedOperation, type Operation, type OperationId } from "../../domain/operation.ts";
import type { SessionRecord } from "../../domain/session.ts";
import { isSettledTurn, type SettledTurn, type Turn, type TurnOutcome } from "../../domain/turn.ts";
import type { SessionDeps } from "../deps.ts";
import { hearSession } from "../messages/observe-target.ts";
import { crossing } from "../operations/crossing.ts";
import { operationLedger } from "../operations/ledger.ts";
import { requestConflict } from "../operations/operation-errors.ts";
import type { PrepareRequest } from "../operations/prepare-operation.ts";
import { requireOperation } from "../operations/write-operation.ts";
import { patience } from "../patience.ts";
import { requireSession } from "../session-refs.ts";
import { limitCheckpoints } from "../turns/limit-checkpoints.ts";
import { requireTurn } from "./ask-agent.ts";
import { cancelProgressJson, wasConfirmed } from "./cancel-progress.ts";
import { carryOutCancel } from "./carry-out-cancel.ts";

export interface CancelOptions {
  /** The turn that goes on when not given. */
  readonly turnId?: TurnId;
  /** For people; a repeat with another one is the same cancellation. */
  readonly reason: string;
}

/** What is known of a cancellation: three facts, none of which follows from another. */
export interface CancelResult {
  /** `null` when nothing had to be done. */
  readonly operationId: OperationId | null;
  readonly turnId: TurnId | null;
  /**
   * `not_found`: there is no such turn, or none goes on. `already_settled`: it was over before. `settled`: it is
   * over now. `cancel_requested`: it goes on as far as anybody knows, and `ao` tries again.
   */
  readonly state: "not_found" | "already_settled" | "cancel_requested" | "settled";
  /** It is on record, and `ao` owns every further try. */
  readonly intentAccepted: boolean;
  /** The agent itself said that it stopped. */
  readonly providerConfirmed: boolean;
  /** The end of the turn is on record. */
  readonly settled: boolean;
  readonly outcome: TurnOutcome | null;
}

const NOTHING = {
  operationId: null,
  turnId: null,
  intentAccepted: false,
  providerConfirmed: false,
  settled: false,
  outcome: null,
} as const;

/**
 * Stops the turn of a session's agent, not the session. The intent is on record before the agent is told; what is
 * not settled by the first try is tried again by whoever comes next, within bounds. Another process that is just at
 * this very cancellation is waited for, ten seconds at most, and what it came to told. Waits for no other operation:
 * what others left is recovered by those who do.
 *
 * @throws AoError session_not_found
 * @throws AoError cancel_unsupported when its agent cannot be told to stop; nothing is on record.
 * @throws AoError with the code of the failure when trying again would not help; a later cancellation may.
 */
export function cancelTurn(deps: SessionDeps, id: SessionId, options: CancelOptions): Promise<CancelResult> {
  return cancelWith(
    limitCheckpoints(deps, () => OTHERS_TRY_MS),
    id,
    options,
  );
}

async function cancelWith(deps: SessionDeps, id: SessionId, options: CancelOptions): Promise<CancelResult> {
  requireSession(deps, id);
  await deps.runtime.reopen();
  await hearSession(deps, id);
  const record = requireSession(deps, id);
  const turn = wantedTurn(deps, record, options);
  if (turn === undefined) return { ...NOTHING, turnId: options.turnId ?? null, state: "not_found" };
  if (isSettledTurn(turn)) return alreadySettled(turn);
  refuseUnsupported(deps, record);
  const held = await beginOrClaim(deps, turn, options.reason);
  if (held.kind === "held") await underLease(deps, held.operation);
  else await untilLetGo(deps, turn, held.operation);
  return resultOf(deps, turn, requireOperation(deps, held.operation.id));
}

/** A try that takes longer than a lease keeps it: nobody else tells the agent meanwhile. */
function underLease(deps: SessionDeps, held: LeasedOperation): Promise<void> {
  return operationLedger(deps).keepLease(held, () => carryOutCancel(deps, held));
}

function wantedTurn(
  { turns }: SessionDeps,
  { id, projectId }: SessionRecord,
  { turnId }: CancelOptions,
): Turn | undefined {
  return turnId === undefined ? turns.live(id) : turns.get({ projectId, sessionId: id, turnId });
}

function alreadySettled({ turnId, state }: SettledTurn): CancelResult {
  return { ...NOTHING, turnId, state: "already_settled", settled: true, outcome: state.outcome };
}

function refuseUnsupported({ agents }: SessionDeps, { id, metadata }: SessionRecord): void {
  if (agents.get(metadata.agent)?.cancel !== undefined) return;
  throw new AoError("cancel_unsupported", `agent ${metadata.agent} cannot be told to stop a turn`, {
    hint: `stop it by hand: ao attach ${id}`,
  });
}

type Begun =
  | { readonly kind: "held"; readonly operation: LeasedOperation }
  /** Another process is at it, or its next try is due later. */
  | { readonly kind: "under_way"; readonly operation: Operation };

async function beginOrClaim(deps: SessionDeps, turn: Turn, reason: string): Promise<Begun> {
  const ledger = operationLedger(deps);
  const begun = await crossing(deps, "cancel.begin", () => ledger.begin(intentOf(turn, reason)));
  switch (begun.kind) {
    case "begun":
      return { kind: "held", operation: begun.operation };
    case "conflict":
      throw requestConflict(begun.operation);
    case "busy":
    case "found": {
      const claimed = await ledger.claim(begun.operation.id);
      return claimed.kind === "claimed"
        ? { kind: "held", operation: claimed.operation }
        : { kind: "under_way", operation: claimed.operation };
    }
  }
}

/** How long another process that is at it is waited for, in milliseconds: as long as its own try may take. */
const OTHERS_TRY_MS = 10_000;
const POLL_MS = 100;

/** Waits until who is at the cancellation has settled it or given it back; what it came to is on record then. */
async function untilLetGo(deps: SessionDeps, turn: Turn, { id }: Operation): Promise<void> {
  const isOver = patience(deps.clock, OTHERS_TRY_MS);
  while (!isOver()) {
    if (!isLeased(requireOperation(deps, id)) || isSettledTurn(requireTurn(deps, turn))) return;
    await isOver.pause(POLL_MS);
  }
}

function intentOf({ projectId, sessionId, turnId }: Turn, reason: string): PrepareRequest {
  return {
    ...{ kind: "cancel_turn", projectId, sessionId, identifyingSessionId: sessionId, subject: turnId },
    input: { turnId },
    progress: cancelProgressJson({ reason, deliveryUnconfirmed: false }),
  };
}

function resultOf(deps: SessionDeps, key: Turn, operation: Operation): CancelResult {
  const { turnId } = key;
  if (operation.state.kind === "failed") throw failure(key, operation, operation.state.error);
  const turn = requireTurn(deps, key);
  const accepted = { operationId: operation.id, turnId, intentAccepted: true };
  const providerConfirmed = wasConfirmed(operation);
  if (!isSettledTurn(turn)) {
    return { ...accepted, state: "cancel_requested", providerConfirmed, settled: false, outcome: null };
  }
  return { ...accepted, state: "settled", providerConfirmed, settled: true, outcome: turn.state.outcome };
}

function failure(
  { sessionId, turnId }: Turn,
  { id }: Operation,
  error: { readonly code: string; readonly message: string },
): AoError {
  const code = error.code === "cancel_unsupported" ? error.code : "delivery_failed";
  return new AoError(code, `turn ${turnId} of ${sessionId} was not stopped: ${error.message}`, {
    hint: `stop it by hand: ao attach ${sessionId}`,
    details: { operationId: id, turnId, sessionId, code: error.code },
  });
}
