import { AoError } from "../../domain/errors.ts";
import type { ProcessFact } from "../../domain/facts.ts";
import { isLeased, type LeasedOperation, type Operation, type OperationId } from "../../domain/operation.ts";
import {
  type Claim,
  type ClaimDecision,
  claimOperation,
  type HolderFact,
} from "../../domain/operation-transitions.ts";
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
  const holders = await lookAtHolders(deps, [requireOperation(deps, id)]);
  return tryClaim(deps, id, { holders, evenIfNotDue: options.evenIfNotDue === true });
}

/** What is known of those who hold some operations, by the tokens of their claims. */
export type Holders = ReadonlyMap<string, HolderFact>;

/** One look at all holders of `operations`; none when nobody holds one. */
export async function lookAtHolders(
  { processes }: Pick<LedgerDeps, "processes">,
  operations: readonly Operation[],
): Promise<Holders> {
  const leased = operations.filter(isLeased);
  if (leased.length === 0) return new Map();
  const facts = await processes.look(leased.map(({ state }) => state.owner.process));
  return new Map(leased.map(({ state }, index) => [state.token, holderFact(facts[index])]));
}

function holderFact(fact: ProcessFact | undefined): HolderFact {
  return fact?.kind === "dead" || fact?.kind === "alive" ? fact.kind : "unknown";
}

/** What is known of holders is known of their tokens: who took the operation since is at work. */
export function tryClaim(
  deps: LedgerDeps,
  id: OperationId,
  known: { readonly holders: Holders; readonly evenIfNotDue: boolean },
): ClaimDecision {
  return deps.store.transaction(() => {
    const operation = requireOperation(deps, id);
    const fact = isLeased(operation) ? known.holders.get(operation.state.token) : undefined;
    return take(deps, operation, { holder: fact ?? "alive", evenIfNotDue: known.evenIfNotDue });
  });
}

/** Takes an operation that was prepared in the same transaction. */
export function takeNew(deps: LedgerDeps, operation: Operation): LeasedOperation {
  const decision = take(deps, operation, { holder: "alive", evenIfNotDue: true });
  if (decision.kind === "claimed") return decision.operation;
  throw new AoError("internal", `operation ${operation.id} is new and ${decision.kind}`);
}

function take(
  deps: LedgerDeps,
  operation: Operation,
  known: Pick<Claim, "holder" | "evenIfNotDue">,
): ClaimDecision {
  const nowMs = deps.clock.nowMs();
  const owner = { ...deps.self, sinceMs: nowMs };
  const decision = claimOperation(operation, { token: deps.ids.uuid(), owner, ...known }, nowMs);
  if (decision.kind === "claimed") saveOperation(deps, decision.operation);
  return decision;
}
