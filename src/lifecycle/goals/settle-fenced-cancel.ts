import { isSameGeneration } from "../../domain/goal.ts";
import type { LeasedOperation } from "../../domain/operation.ts";
import { isSettledTurn } from "../../domain/turn.ts";
import { cancelEndJson, turnOf } from "../cancel/cancel-progress.ts";
import type { SessionDeps } from "../deps.ts";
import { crossing } from "../operations/crossing.ts";
import { insideTransaction } from "../operations/inside-transaction.ts";
import { operationLedger } from "../operations/ledger.ts";
import { recordTurnTransition } from "../turns/record-turn-transition.ts";
import { reachOf } from "./reach.ts";

/**
 * A cancellation that is recovered, of a turn that works for a revoked generation, while its session is gone: the
 * turn was interrupted, and its agent is not asked any more. Whether it was such a one.
 */
export async function settleFencedCancel(deps: SessionDeps, held: LeasedOperation): Promise<boolean> {
  const key = turnOf(held);
  const turn = deps.turns.get(key);
  const goal = turn?.goal ?? null;
  if (turn === undefined || goal === null || isSettledTurn(turn)) return false;
  const isFenced = deps.goals.fences(key.sessionId).some(({ target }) => isSameGeneration(target, goal));
  if (!isFenced || (await reachOf(deps, key.sessionId)).kind !== "gone") return false;
  await crossing(deps, "cancel.complete", () =>
    deps.store.transaction(() => {
      const inside = { ...deps, store: insideTransaction(deps.store) };
      const stored = deps.turns.get(key) ?? turn;
      const atMs = Math.max(deps.clock.nowMs(), stored.updatedAtMs);
      const ended = { ...key, phase: "settled", outcome: "interrupted", occurredAtMs: atMs } as const;
      const after = recordTurnTransition(inside, { ...ended, birth: stored }).turn;
      const outcome = isSettledTurn(after) ? after.state.outcome : "interrupted";
      const end = { result: "already_settled", outcome, providerConfirmed: false } as const;
      operationLedger(inside).complete(held, cancelEndJson(end));
    }),
  );
  return true;
}
