import { assertNever } from "../../domain/assert-never.ts";
import type { LeasedOperation, Operation } from "../../domain/operation.ts";
import { carryOutCancel } from "../cancel/carry-out-cancel.ts";
import { recoverCleanup } from "../cleanup-steps.ts";
import type { SessionDeps } from "../deps.ts";
import { carryForkOn } from "../forks/carry-fork-on.ts";
import { finishKill } from "../kill-steps.ts";
import { operationLedger } from "../operations/ledger.ts";
import type { TakeOverError } from "../operations/take-over.ts";
import { recoverRestore } from "../restore-steps.ts";
import { recoverFiles } from "../salvage/change-files.ts";
import { finishPutBack } from "../salvage/put-back-steps.ts";
import { finishRewind } from "../salvage/rewind-steps.ts";
import { recoverSpawn } from "../spawn-steps.ts";
import type { RecoveredOperation, Recovery, RecoveryError, RecoveryOutcome } from "./recovery.ts";

/**
 * Takes over the operations of processes that are gone, each on its own: forward where that is safe, else
 * back. One look into the store when there are none. What another process holds is left alone. First brings
 * the runtimes back into reach: every command that changes something begins here, and has to see them.
 *
 * @throws AoError as the store does; what one operation meets is among the errors of the result.
 */
export async function recoverOperations(deps: SessionDeps): Promise<Recovery> {
  await deps.runtime.reopen();
  const { taken, errors } = await operationLedger(deps).takeOver((held) => carryOn(deps, held));
  return { operations: taken.map(recovered), errors: errors.map(recoveryError) };
}

function carryOn(deps: SessionDeps, held: LeasedOperation): Promise<void> {
  switch (held.kind) {
    case "spawn":
      return recoverSpawn(deps, held);
    case "kill":
      return finishKill(deps, held).then(() => undefined);
    case "restore":
      return recoverRestore(deps, held);
    case "cleanup":
      return recoverCleanup(deps, held);
    case "cancel_turn":
      return carryOutCancel(deps, held);
    case "rewind":
      return recoverFiles(deps, held, () => finishRewind(deps, held));
    case "put_back":
      return recoverFiles(deps, held, () => finishPutBack(deps, held));
    case "fork":
      return carryForkOn(deps, held).then(() => undefined);
    default:
      return assertNever(held.kind);
  }
}

function recovered({ id, kind, sessionId, state }: Operation): RecoveredOperation {
  return { id, kind, sessionId, outcome: outcomeOf(state.kind) };
}

function outcomeOf(state: Operation["state"]["kind"]): RecoveryOutcome {
  if (state === "completed") return "finished";
  return state === "failed" ? "undone" : "left";
}

function recoveryError({ operationId, sessionId, kind, code, message }: TakeOverError): RecoveryError {
  const subject =
    kind === null || sessionId === null ? `operation ${operationId}` : `${kind} of ${sessionId}`;
  return { subject, code, message };
}
