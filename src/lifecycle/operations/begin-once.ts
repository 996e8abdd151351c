import { isSameJson } from "../../domain/canonical-json.ts";
import type { CompletedState, LeasedOperation, Operation } from "../../domain/operation.ts";
import type { SessionDeps } from "../deps.ts";
import { crossing } from "./crossing.ts";
import type { DomainChange } from "./hold-operation.ts";
import { operationLedger } from "./ledger.ts";
import { operationInProgress, requestConflict } from "./operation-errors.ts";
import { findOperation, type PrepareRequest, unfinishedOf } from "./prepare-operation.ts";

/** Its session has an unfinished operation, perhaps this very one. */
export interface Busy {
  readonly kind: "busy";
  readonly operation: Operation;
}

/** The same request was carried out before. */
export interface Repeat {
  readonly kind: "repeat";
  readonly operation: Operation<CompletedState>;
}

export interface Begun {
  readonly kind: "begun";
  readonly operation: LeasedOperation;
}

/**
 * What stands in the way of a request before anything is looked at: an earlier run of it, or an unfinished
 * operation of its session. `null` for nothing.
 *
 * @throws AoError request_conflict when its id was used for something else.
 */
export function obstacleTo(deps: SessionDeps, request: PrepareRequest): Busy | Repeat | null {
  const earlier = findOperation(deps, request);
  if (earlier !== undefined) {
    if (!isSameJson(earlier.input, request.input)) throw requestConflict(earlier);
    if (earlier.state.kind !== "failed") return asFound(earlier);
  }
  const holder = unfinishedOf(deps, request.sessionId);
  return holder === undefined ? null : { kind: "busy", operation: holder };
}

/**
 * Writes the intent together with its first change, and holds it.
 *
 * @throws AoError request_conflict, and what `change` throws; nothing was written then.
 */
export async function beginOnce(
  deps: SessionDeps,
  request: PrepareRequest,
  change?: DomainChange,
): Promise<Begun | Busy | Repeat> {
  const begin = () => operationLedger(deps).begin(request, change);
  const outcome = await crossing(deps, `${request.kind}.begin`, begin);
  switch (outcome.kind) {
    case "begun":
    case "busy":
      return outcome;
    case "found":
      return asFound(outcome.operation);
    case "conflict":
      throw requestConflict(outcome.operation);
  }
}

function asFound(operation: Operation): Busy | Repeat {
  const { state } = operation;
  return state.kind === "completed"
    ? { kind: "repeat", operation: { ...operation, state } }
    : { kind: "busy", operation };
}

/** What one try of a command comes to. */
export type Attempt<Result> = { readonly kind: "done"; readonly result: Result } | Busy;

/** How often to look whether a session is free, in milliseconds. */
const LOOK_EVERY_MS = 200;

/**
 * Repeats `attempt` while its session is busy, for `waitMs` at most.
 *
 * @throws AoError operation_in_progress when it still is, with who and since when.
 */
export async function untilFree<Result>(
  { clock }: Pick<SessionDeps, "clock">,
  waitMs: number,
  attempt: () => Promise<Attempt<Result>>,
): Promise<Result> {
  const startedMs = clock.nowMs();
  for (let sleptMs = 0; ; sleptMs += LOOK_EVERY_MS) {
    const outcome = await attempt();
    if (outcome.kind === "done") return outcome.result;
    // A clock that is set back meanwhile neither ends the wait nor makes it longer.
    const waitedMs = Math.max(sleptMs, clock.nowMs() - startedMs);
    if (waitedMs >= waitMs) throw operationInProgress(outcome.operation);
    await clock.sleep(LOOK_EVERY_MS);
  }
}
