import { type JsonValue, jsonMembers } from "../../domain/canonical-json.ts";
import { AoError } from "../../domain/errors.ts";
import { parseTurnId } from "../../domain/ids.ts";
import type { Operation } from "../../domain/operation.ts";
import type { TurnKey, TurnOutcome } from "../../domain/turn.ts";

/** What the tries of a cancellation leave behind. */
export interface CancelProgress {
  /** Why it was asked for: for people, and never compared. */
  readonly reason: string;
  /** The agent may have been told to stop. On record before it is told; it stays when nothing was heard of it. */
  readonly deliveryUnconfirmed: boolean;
}

/** How a cancellation ended. */
export interface CancelEnd {
  readonly result: "canceled" | "already_settled" | "execution_status_unknown";
  readonly outcome: TurnOutcome;
  /** The agent itself said that it stopped. */
  readonly providerConfirmed: boolean;
}

/** As the ledger keeps it. */
export function cancelProgressJson({ reason, deliveryUnconfirmed }: CancelProgress): JsonValue {
  return { reason, deliveryUnconfirmed };
}

/** The progress of a cancellation. What cannot be read is taken for the careful answer. */
export function parseCancelProgress({ progress }: Operation): CancelProgress {
  const { reason, deliveryUnconfirmed } = jsonMembers(progress) ?? {};
  return {
    reason: typeof reason === "string" ? reason : "",
    deliveryUnconfirmed: deliveryUnconfirmed !== false,
  };
}

/** As the ledger keeps it. */
export function cancelEndJson({ result, outcome, providerConfirmed }: CancelEnd): JsonValue {
  return { result, outcome, providerConfirmed };
}

/** Whether the agent itself said that it stopped, as the end of a cancellation has it. */
export function wasConfirmed(operation: Operation): boolean {
  const { state } = operation;
  return state.kind === "completed" && jsonMembers(state.result)?.["providerConfirmed"] === true;
}

/**
 * The turn that a cancellation is about.
 *
 * @throws AoError store_corrupt when its row does not name one.
 */
export function turnOf({ id, projectId, sessionId, subject }: Operation): TurnKey {
  const turnId = parseTurnId(subject);
  if (turnId !== undefined && sessionId !== null) return { projectId, sessionId, turnId };
  throw new AoError("store_corrupt", `operation ${id} cannot be read (subject)`, {
    hint: "ao doctor",
    details: { operationId: id },
  });
}
