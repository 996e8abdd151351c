import { AoError } from "../../domain/errors.ts";
import type { Operation, OperationId } from "../../domain/operation.ts";
import type { LedgerDeps } from "./ledger-deps.ts";

/**
 * The row of an operation that has one.
 *
 * @throws AoError internal when it has none.
 */
export function requireOperation({ operations }: Pick<LedgerDeps, "operations">, id: OperationId): Operation {
  const operation = operations.get(id);
  if (operation !== undefined) return operation;
  throw new AoError("internal", `operation ${id} has no row`);
}

/**
 * Saves the next version of a row that was read in the same transaction.
 *
 * @throws AoError store_busy when it moved since, as with a store whose transactions do not exclude.
 */
export function saveOperation({ operations }: Pick<LedgerDeps, "operations">, next: Operation): void {
  if (operations.save(next, next.version - 1)) return;
  throw new AoError("store_busy", `operation ${next.id} was written by another process`, {
    hint: "try again",
  });
}
