import { errorMessage } from "../../domain/errors.ts";
import type { LeasedOperation } from "../../domain/operation.ts";
import type { SessionDeps } from "../deps.ts";
import { operationLedger } from "./ledger.ts";

/**
 * Carries out the steps of an operation that this process holds and that only goes forward, up to and with its
 * completion. When one fails, the operation stays, due at once: the next command or `reconcile` carries it on from
 * there, as it does after a process that died. What a refusal ends is for `work` to complete.
 *
 * @throws what `work` throws.
 */
export async function carryForward<Result>(
  deps: SessionDeps,
  held: LeasedOperation,
  work: () => Promise<Result>,
): Promise<Result> {
  return operationLedger(deps).keepLease(held, async () => {
    try {
      return await work();
    } catch (error) {
      leave(deps, held, error);
      throw error;
    }
  });
}

/** What keeps it from being left tells less than why it is: a claim that is not given up is lost with its process. */
function leave(deps: SessionDeps, held: LeasedOperation, cause: unknown): void {
  try {
    operationLedger(deps).release(held, { lastError: errorMessage(cause), isDueAtOnce: true });
  } catch {
    return;
  }
}
