import { AoError } from "../../domain/errors.ts";
import { isLeased, type LeasedOperation, type Operation, type OperationId } from "../../domain/operation.ts";
import { type ClaimDecision, claimOperation } from "../../domain/operation-transitions.ts";
import type { LedgerDeps } from "./ledger-deps.ts";
import { requireOperation, saveOperation } from "./write-operation.ts";

export interface ClaimOptions {
  /** Take it though its next attempt is due later: a person asked for it now. */
  readonly evenIfNotDue?: boolean;
}

/**
 * Looks whether the holder, if there is one, is dead, and takes the operation when it may.
 *
 * @throws AoError internal when the operation is unknown.
 */
export async function claim(
  deps: LedgerDeps,
  id: OperationId,
  options: ClaimOptions = {},
): Promise<ClaimDecision> {
  const deadTokens = await lookForDead(deps, [requireOperation(deps, id)]);
  return tryClaim(deps, id, { deadTokens, evenIfNotDue: options.evenIfNotDue === true });
}

/** The tokens, among those of `operations`, whose holders are proven dead: one look at all of them. */
export async function lookForDead(
  { processes }: Pick<LedgerDeps, "processes">,
  operations: readonly Operation[],
): Promise<ReadonlySet<string>> {
  const leased = operations.filter(isLeased);
  if (leased.length === 0) return new Set();
  const facts = await processes.look(leased.map(({ state }) => state.owner.process));
  return new Set(leased.filter((_, index) => facts[index]?.kind === "dead").map(({ state }) => state.token));
}

/** What is known of holders is known of their tokens: who took the operation since is not meant by it. */
export function tryClaim(
  deps: LedgerDeps,
  id: OperationId,
  known: { readonly deadTokens: ReadonlySet<string>; readonly evenIfNotDue: boolean },
): ClaimDecision {
  return deps.store.transaction(() => {
    const operation = requireOperation(deps, id);
    const ownerDead = isLeased(operation) && known.deadTokens.has(operation.state.token);
    return take(deps, operation, { ownerDead, evenIfNotDue: known.evenIfNotDue });
  });
}

/** Takes an operation that was prepared in the same transaction. */
export function takeNew(deps: LedgerDeps, operation: Operation): LeasedOperation {
  const decision = take(deps, operation, { ownerDead: false, evenIfNotDue: true });
  if (decision.kind === "claimed") return decision.operation;
  throw new AoError("internal", `operation ${operation.id} is new and ${decision.kind}`);
}

function take(
  deps: LedgerDeps,
  operation: Operation,
  known: { readonly ownerDead: boolean; readonly evenIfNotDue: boolean },
): ClaimDecision {
  const nowMs = deps.clock.nowMs();
  const owner = { ...deps.self, sinceMs: nowMs };
  const decision = claimOperation(operation, { token: deps.ids.uuid(), owner, ...known }, nowMs);
  if (decision.kind === "claimed") saveOperation(deps, decision.operation);
  return decision;
}
