import { isAoError } from "../../domain/errors.ts";
import type { SessionId } from "../../domain/ids.ts";
import type { OperationKind } from "../../domain/operation.ts";
import type { SessionDeps } from "../deps.ts";
import { unfinishedOf } from "../operations/prepare-operation.ts";

/**
 * Why nothing is delivered to a session now, in one clause: an operation has it for itself, and an agent must not
 * begin anything until that is over. `null` when none has. Inside a transaction it holds to its end.
 */
export function whyHeldUp({ operations }: Pick<SessionDeps, "operations">, id: SessionId): string | null {
  try {
    const holder = unfinishedOf({ operations }, id);
    return holder === undefined ? null : `the ${nameOf(holder.kind)} of its session is not finished`;
  } catch (error) {
    if (isAoError(error, "store_corrupt")) return `${error.message}; see: ao doctor`;
    throw error;
  }
}

function nameOf(kind: OperationKind): string {
  return kind === "put_back" ? "put-back of a salvage" : kind;
}
