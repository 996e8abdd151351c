import type { OperationOwner } from "../../domain/operation.ts";
import type { ChangeLog } from "../../ports/change-log.ts";
import type { Clock } from "../../ports/clock.ts";
import type { IdSource } from "../../ports/ids.ts";
import type { OperationStore } from "../../ports/operation-store.ts";
import type { ProcessTable } from "../../ports/process-table.ts";
import type { SessionStore } from "../../ports/session-store.ts";

/** What the operation ledger works with. Store, operations and changes share one transaction. */
export interface LedgerDeps {
  readonly store: SessionStore;
  readonly operations: OperationStore;
  readonly changes: ChangeLog;
  readonly processes: Pick<ProcessTable, "look">;
  readonly clock: Clock;
  readonly ids: Pick<IdSource, "operationId" | "uuid">;
  /** This process and the command it carries out: the owner of whatever it claims. */
  readonly self: Omit<OperationOwner, "sinceMs">;
}
