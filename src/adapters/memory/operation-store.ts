import type { Operation, OperationId } from "../../domain/operation.ts";
import { isFinished } from "../../domain/operation.ts";
import type { OperationRows, OperationStore } from "../../ports/operation-store.ts";

/** An operation store in memory that a transaction can put back. */
export interface MemoryOperationStore extends OperationStore {
  /** Remembers all rows; the function that it returns puts them back. */
  remember(): () => void;
}

function copyOf(operation: Operation): Operation {
  return JSON.parse(JSON.stringify(operation));
}

const byText = (one: string, other: string) => (one < other ? -1 : Number(one > other));

function byCreation(one: Operation, other: Operation): number {
  return one.createdAtMs - other.createdAtMs || byText(one.id, other.id);
}

/** What no step changes. */
function askedFor({ kind, projectId, sessionId, subject, input, createdAtMs }: Operation) {
  return { kind, projectId, sessionId, subject, input, createdAtMs };
}

/** Rows as JSON, as a database would keep them; none of them is ever unreadable. */
export function memoryOperationStore(): MemoryOperationStore {
  let rows: ReadonlyMap<OperationId, Operation> = new Map();

  const put = (operation: Operation) => {
    rows = new Map(rows).set(operation.id, copyOf(operation));
    return true;
  };
  const select = (isWanted: (operation: Operation) => boolean): readonly Operation[] =>
    [...rows.values()].filter(isWanted).sort(byCreation).map(copyOf);
  const readable = (operations: readonly Operation[]): OperationRows => ({ operations, unreadable: [] });

  return {
    get(id) {
      const operation = rows.get(id);
      return operation && copyOf(operation);
    },
    insert: (operation) => !rows.has(operation.id) && put(operation),
    save(operation, readVersion) {
      const stored = rows.get(operation.id);
      const isReplaced = stored !== undefined && stored.version === readVersion && !isFinished(stored);
      return isReplaced && put({ ...operation, ...askedFor(stored) });
    },
    unfinished: () => readable(select((operation) => !isFinished(operation))),
    ofKind: (kind, projectId, limit) =>
      readable(
        select((operation) => operation.kind === kind && operation.projectId === projectId)
          .toReversed()
          .slice(0, limit),
      ),
    ofSession: (id, limit) =>
      readable(
        select(({ sessionId }) => sessionId === id)
          .toReversed()
          .slice(0, limit),
      ),
    remember() {
      const remembered = rows;
      return () => {
        rows = remembered;
      };
    },
  };
}
