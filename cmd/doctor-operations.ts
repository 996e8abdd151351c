import type { Ao } from "../src/compose.ts";
import { isLeased, type Operation } from "../src/domain/operation.ts";
import { lookAtHolders } from "../src/lifecycle/operations/claim-operation.ts";
import { findOrphans, nameOrphans } from "../src/lifecycle/recovery/find-orphans.ts";
import type { Check } from "./doctor-check.ts";

const FIX = "ao reconcile";

/** Operations that somebody left half done, and rows of operations that cannot be read. */
export async function operationsCheck({ deps }: Ao): Promise<Check> {
  const name = "operations";
  const { operations, unreadable } = deps.operations.unfinished();
  if (unreadable.length > 0) {
    const detail = unreadable.map(({ id, flaw }) => `operation ${id} cannot be read (${flaw})`).join("; ");
    return { name, status: "fail", detail, fix: null };
  }
  const holders = await lookAtHolders(deps, operations);
  const isUnderWay = (operation: Operation) =>
    isLeased(operation) && holders.get(operation.state.token) !== "dead";
  const left = operations.filter((operation) => !isUnderWay(operation));
  if (left.length > 0) return { name, status: "warn", detail: `left half done: ${namesOf(left)}`, fix: FIX };
  const detail = operations.length === 0 ? "none unfinished" : `under way: ${namesOf(operations)}`;
  return { name, status: "pass", detail, fix: null };
}

function namesOf(operations: readonly Operation[]): string {
  return operations.map(({ kind, sessionId, id }) => `${kind} of ${sessionId ?? id}`).join(", ");
}

/** Runtimes and worktrees that carry our marks and have no owner. */
export async function orphansCheck({ deps, isNew }: Ao): Promise<Check> {
  const name = "orphans";
  if (isNew) return { name, status: "pass", detail: "nothing was made yet", fix: null };
  const orphans = nameOrphans(await findOrphans(deps));
  if (orphans.length === 0) return { name, status: "pass", detail: "none", fix: null };
  const detail = orphans
    .map(({ kind, sessionId, where, detail: what }) => `${kind} of ${sessionId} (${where}): ${what}`)
    .join("; ");
  return { name, status: "warn", detail, fix: FIX };
}
