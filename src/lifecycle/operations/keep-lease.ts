import { isAoError } from "../../domain/errors.ts";
import type { LeasedOperation } from "../../domain/operation.ts";
import { LEASE_MS } from "../../domain/operation-schedule.ts";
import { renew } from "./hold-operation.ts";
import type { LedgerDeps } from "./ledger-deps.ts";

/** Two renewals may fail before a lease is over. */
const RENEW_EVERY_MS = LEASE_MS / 3;

/** Renews the lease while `work` runs, however long that takes. */
export async function keepLease<Result>(
  deps: LedgerDeps,
  held: LeasedOperation,
  work: () => Promise<Result>,
): Promise<Result> {
  const over = new AbortController();
  const renewing = renewUntil(deps, held, over.signal);
  try {
    return await work();
  } finally {
    over.abort();
    await renewing;
  }
}

async function renewUntil(deps: LedgerDeps, held: LeasedOperation, over: AbortSignal): Promise<void> {
  do {
    await deps.clock.sleep(RENEW_EVERY_MS, over);
  } while (!over.aborted && mayStillHold(deps, held));
}

/** A renewal that fails is no failure of the work: the next one may succeed, the next step tells in any case. */
function mayStillHold(deps: LedgerDeps, held: LeasedOperation): boolean {
  try {
    renew(deps, held);
    return true;
  } catch (error) {
    return !isAoError(error, "operation_in_progress");
  }
}
