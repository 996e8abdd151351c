import { isFinished, type Operation, type OperationId } from "../../domain/operation.ts";
import type { SessionDeps } from "../deps.ts";
import { operationLedger } from "../operations/ledger.ts";
import { type StepMode, stepControl } from "./step-control.ts";

/** One more try of an order that waits, also before its time: something was heard or may be told now. */
export async function tryPending(
  deps: SessionDeps,
  id: OperationId,
  mode: StepMode,
): Promise<Operation | undefined> {
  const operation = deps.operations.get(id);
  if (operation === undefined || isFinished(operation)) return operation;
  const ledger = operationLedger(deps);
  const claimed = await ledger.claim(id, { evenIfNotDue: true });
  if (claimed.kind === "claimed") {
    await ledger.keepLease(claimed.operation, () => stepControl(deps, claimed.operation, mode));
  }
  return deps.operations.get(id);
}
