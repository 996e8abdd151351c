import { assertNever } from "../../domain/assert-never.ts";
import type { LeasedOperation, Operation } from "../../domain/operation.ts";
import { carryOutCancel } from "../cancel/carry-out-cancel.ts";
import { isRun, recoverRun } from "../cleanup/cleanup-run.ts";
import { recoverCleanup } from "../cleanup/cleanup-steps.ts";
import type { SessionDeps } from "../deps.ts";
import { carryForkOn } from "../forks/carry-fork-on.ts";
import { isGoalWork, recoverGoals } from "../goals/recover-goals.ts";
import { settleFencedCancel } from "../goals/settle-fenced-cancel.ts";
import { finishKill } from "../kill/kill-steps.ts";
import { operationLedger } from "../operations/ledger.ts";
import type { CarryOn, TakeOverError } from "../operations/take-over.ts";
import { recoverFill } from "../pool/fill-pool.ts";
import { recoverRestore } from "../restore/restore-steps.ts";
import { recoverFiles } from "../salvage/change-files.ts";
import { finishPutBack } from "../salvage/put-back-steps.ts";
import { finishRewind } from "../salvage/rewind-steps.ts";
import { recoverSpawn } from "../spawn/spawn-steps.ts";
import { isOfOrphan, recoverOrphan } from "./free-orphan.ts";
import type { RecoveredOperation, Recovery, RecoveryError, RecoveryOutcome } from "./recovery.ts";

/**
 * Takes over the operations of processes that are gone, each on its own: forward where that is safe, else
 * back. Cleanups of many sessions come after those of each, fences after the others, then the orders of goals, then
 * forks. What another process holds is left alone. First brings the runtimes back into reach: every command that
 * changes something begins here, and has to see them.
 *
 * `leaves` tells a cleanup that its caller goes on with itself, as it can be interrupted then.
 *
 * @throws AoError as the store does; what one operation meets is among the errors of the result.
 */
export async function recoverOperations(
  deps: SessionDeps,
  leaves: (run: Operation) => boolean = () => false,
): Promise<Recovery> {
  await deps.runtime.reopen();
  const ledger = operationLedger(deps);
  const work: CarryOn = (held) => carryOn(deps, held);
  const first = await ledger.takeOver(work, {
    chosen: (one) => !isGoalWork(one) && !isFork(one) && !isRun(one),
  });
  const runs = await ledger.takeOver(work, { chosen: (one) => isRun(one) && !leaves(one) });
  const goals = await recoverGoals(deps);
  const forks = await ledger.takeOver(work, { chosen: isFork });
  // A row that cannot be read is told of once.
  const later = [...runs.errors, ...goals.errors, ...forks.errors].filter(({ kind }) => kind !== null);
  return {
    operations: [...first.taken, ...runs.taken, ...goals.taken, ...forks.taken].map(recovered),
    errors: [...first.errors, ...later].map(recoveryError),
  };
}

function isFork({ kind }: Operation): boolean {
  return kind === "fork";
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
      return carryCleanupOn(deps, held);
    case "cancel_turn":
      return recoverCancel(deps, held);
    case "rewind":
      return recoverFiles(deps, held, () => finishRewind(deps, held));
    case "put_back":
      return recoverFiles(deps, held, () => finishPutBack(deps, held));
    case "fork":
      return carryForkOn(deps, held).then(() => undefined);
    case "goal_control":
    case "goal_fence":
      return nothing();
    case "fill_pool":
      return recoverFill(deps, held);
    default:
      return assertNever(held.kind);
  }
}

function carryCleanupOn(deps: SessionDeps, held: LeasedOperation): Promise<void> {
  if (isRun(held)) return recoverRun(deps, held);
  return isOfOrphan(held) ? recoverOrphan(deps, held) : recoverCleanup(deps, held);
}

/** Goals are carried on after all others. */
async function nothing(): Promise<void> {}

async function recoverCancel(deps: SessionDeps, held: LeasedOperation): Promise<void> {
  if (!(await settleFencedCancel(deps, held))) await carryOutCancel(deps, held);
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
