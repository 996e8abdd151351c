import type { Ao } from "../src/compose.ts";
import { dataLayout } from "../src/domain/data-layout.ts";
import { isLeased, type Operation } from "../src/domain/operation.ts";
import { lookAtHolders } from "../src/lifecycle/operations/claim-operation.ts";
import { judgePools } from "../src/lifecycle/pool/judge-pools.ts";
import { findOrphans, keptWithoutStore } from "../src/lifecycle/recovery/find-orphans.ts";
import { nameOrphans } from "../src/lifecycle/recovery/judge-orphans.ts";
import type { Orphan } from "../src/lifecycle/recovery/reconcile-result.ts";
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
export async function orphansCheck({ deps, dataDirectory, isNew }: Ao): Promise<Check> {
  const name = "orphans";
  if (isNew) return dataDirectory.exists() ? withoutStoreCheck(name, deps) : nothingMade(name);
  const orphans = await nameOrphans(deps, await findOrphans(deps));
  if (orphans.length === 0) return { name, status: "pass", detail: "none", fix: null };
  const fix = orphans.flatMap((orphan) => orphan.fix ?? [])[0] ?? FIX;
  return { name, status: "warn", detail: inWords(orphans), fix };
}

/** Worktrees that were made ahead: nobody's by intent. */
export async function poolsCheck({ deps }: Ao): Promise<Check> {
  const name = "pools";
  const { value: pools, errors } = await judgePools(deps, null);
  const useless = pools.flatMap(({ spares }) => spares).filter(({ unwanted }) => unwanted !== null);
  if (useless.length > 0) {
    const told = useless.map(({ workspace, unwanted }) => `${workspace.ref.path}: ${unwanted}`);
    return { name, status: "warn", detail: `made ahead and of no use: ${told.join("; ")}`, fix: FIX };
  }
  if (errors.length > 0) {
    const told = errors.map(({ subject, message }) => `${subject}: ${message}`);
    return { name, status: "warn", detail: told.join("; "), fix: null };
  }
  const ready = pools.map(({ projectId, wanted, spares }) => {
    return `${spares.length} of ${wanted?.size ?? 0} worktrees ready for ${projectId}`;
  });
  return { name, status: "pass", detail: ready.join(", ") || "none asked for", fix: null };
}

function nothingMade(name: string): Check {
  return { name, status: "pass", detail: "nothing was made yet", fix: null };
}

/** What was made is there and the store that tells of it is not: it was lost, or moved away. */
async function withoutStoreCheck(name: string, deps: Ao["deps"]): Promise<Check> {
  const orphans = await keptWithoutStore(deps);
  if (orphans.length === 0) return nothingMade(name);
  const { database } = dataLayout(deps.dataDir);
  return { name, status: "fail", detail: inWords(orphans), fix: `put ${database} back, or a copy of it` };
}

function inWords(orphans: readonly Orphan[]): string {
  return orphans
    .map(({ kind, sessionId, where, detail: what }) => `${kind} of ${sessionId} (${where}): ${what}`)
    .join("; ");
}
