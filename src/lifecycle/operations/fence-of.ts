import { isLeased, type LeasedOperation } from "../../domain/operation.ts";
import type { Fence } from "../../ports/fence.ts";
import type { LedgerDeps } from "./ledger-deps.ts";
import { operationInProgress } from "./operation-errors.ts";
import { requireOperation } from "./write-operation.ts";

/** The fence of an operation: open while its claim is the one it was claimed with. One read of a row. */
export function fenceOf(deps: Pick<LedgerDeps, "operations">, held: LeasedOperation): Fence {
  return () => {
    const row = requireOperation(deps, held.id);
    if (!isLeased(row) || row.state.token !== held.state.token) throw operationInProgress(row);
  };
}
