import type { GoalFence, GoalState } from "../../domain/goal.ts";
import type { GoalStore } from "../../ports/goal-store.ts";

/** A goal store in memory that a transaction can put back. */
export interface MemoryGoalStore extends GoalStore {
  /** Remembers all rows; the function that it returns puts them back. */
  remember(): () => void;
}

const byText = (one: string, other: string) => (one < other ? -1 : Number(one > other));

/** Rows as values; none of them is ever unreadable. */
export function memoryGoalStore(): MemoryGoalStore {
  let rows: readonly GoalState[] = [];
  let fences: readonly GoalFence[] = [];

  return {
    state: (sessionId) => structuredClone(rows.find((row) => row.sessionId === sessionId)),
    active: () => ({
      goals: rows
        .filter(({ desired }) => desired?.status === "active")
        .sort((one, other) => byText(one.sessionId, other.sessionId))
        .map((row) => structuredClone(row)),
      unreadable: [],
    }),
    insert(state) {
      if (rows.some((row) => row.sessionId === state.sessionId)) return false;
      rows = [...rows, structuredClone(state)];
      return true;
    },
    save(state, readVersion) {
      const stored = rows.find((row) => row.sessionId === state.sessionId);
      if (stored?.version !== readVersion) return false;
      rows = rows.map((row) => (row === stored ? structuredClone(state) : row));
      return true;
    },
    fences: (sessionId) => structuredClone(fences.filter((fence) => fence.sessionId === sessionId)),
    insertFence(fence) {
      const isTaken = fences.some(
        (one) =>
          one.operationId === fence.operationId ||
          (one.sessionId === fence.sessionId && one.target.operationId === fence.target.operationId),
      );
      if (!isTaken) fences = [...fences, structuredClone(fence)];
      return !isTaken;
    },
    markInstalled({ sessionId, target }, launchId) {
      const found = fences.find(
        (one) => one.sessionId === sessionId && one.target.operationId === target.operationId,
      );
      fences = fences.map((one) => (one === found ? { ...one, installedLaunchId: launchId } : one));
      return found !== undefined;
    },
    remember() {
      const remembered = { rows, fences };
      return () => ({ rows, fences } = remembered);
    },
  };
}
