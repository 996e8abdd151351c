import type { Change, ChangeLog } from "../../ports/change-log.ts";

/** A change log in memory that a transaction can put back. */
export interface MemoryChangeLog extends ChangeLog {
  /** Remembers all changes; the function that it returns puts them back. */
  remember(): () => void;
}

function copyOf(change: Change): Change {
  return JSON.parse(JSON.stringify(change));
}

/** Changes as JSON, as a database would keep them. */
export function memoryChangeLog(): MemoryChangeLog {
  let changes: readonly Change[] = [];
  return {
    append(change) {
      const sequence = changes.length + 1;
      changes = [...changes, copyOf({ ...change, sequence })];
      return sequence;
    },
    after: (sequence, limit) =>
      changes
        .filter((change) => change.sequence > sequence)
        .slice(0, limit)
        .map(copyOf),
    last: () => changes.length,
    remember() {
      const remembered = changes;
      return () => {
        changes = remembered;
      };
    },
  };
}
