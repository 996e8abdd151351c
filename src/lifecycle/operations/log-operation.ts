import { assertNever } from "../../domain/assert-never.ts";
import type { JsonValue } from "../../domain/canonical-json.ts";
import type { Operation, OperationState } from "../../domain/operation.ts";
import type { LedgerDeps } from "./ledger-deps.ts";

/** Appends what became of an operation to the change log. A claim and its progress are nobody's news. */
export function logOperation(
  { changes, clock }: Pick<LedgerDeps, "changes" | "clock">,
  operation: Operation,
): void {
  const outcome = outcomeOf(operation.state);
  if (outcome === null) return;
  const { id, kind, projectId, sessionId, subject, state } = operation;
  changes.append({
    atMs: clock.nowMs(),
    projectId,
    sessionId,
    type: `operation.${state.kind}`,
    data: { operationId: id, kind, subject, ...outcome },
  });
}

function outcomeOf(state: OperationState): { readonly [name: string]: JsonValue } | null {
  switch (state.kind) {
    case "prepared":
      return {};
    case "leased":
      return null;
    case "completed":
      return { result: state.result };
    case "failed":
      return { error: { code: state.error.code, message: state.error.message }, result: state.result };
    default:
      return assertNever(state);
  }
}
