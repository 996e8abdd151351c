import { isRecentlyActive } from "../../domain/activity.ts";
import { AoError } from "../../domain/errors.ts";
import type { SessionId } from "../../domain/ids.ts";
import { isTerminal } from "../../domain/lifecycle.ts";
import { isDelivering } from "../../domain/message.ts";
import type { SessionRecord } from "../../domain/session.ts";
import type { SessionDeps } from "../deps.ts";
import { seeSession } from "../messages/observe-target.ts";
import { requireSession } from "../session-refs.ts";

/**
 * A session whose files nobody is at work on, as far as its agent tells: one that is over, or rests between turns.
 *
 * @throws AoError session_not_found
 * @throws AoError runtime_unavailable when it cannot be seen whether its agent runs.
 * @throws AoError workspace_freed when it has no worktree.
 * @throws AoError busy when its agent works, or waits for an answer in the middle of it.
 */
export async function requireResting(deps: SessionDeps, id: SessionId): Promise<SessionRecord> {
  await seeSession(deps, id);
  const record = requireSession(deps, id);
  if (record.metadata.workspaceFreedAtMs !== null || record.metadata.workspacePath === "") {
    throw new AoError("workspace_freed", `session ${id} has no worktree any more`, {
      hint: `ao restore ${id}`,
    });
  }
  refuseWork(deps, id);
  if (isAtWork(deps, record)) throw busy(id, "is at work");
  return record;
}

/** @throws AoError busy when its agent has a turn that goes on, or a message is on its way to it. */
export function refuseWork(deps: Pick<SessionDeps, "store" | "turns" | "messages">, id: SessionId): void {
  const turn = deps.turns.live(id);
  if (turn !== undefined) throw busy(id, `works on turn ${turn.turnId}`);
  const isOver = isTerminal(requireSession(deps, id).lifecycle);
  if (!isOver && deps.messages.sent(id).some(isDelivering)) throw busy(id, "is being sent a message");
}

/** An agent that tells of no turns is at work while it was heard from just now. */
function isAtWork({ turns, clock }: SessionDeps, { id, lifecycle }: SessionRecord): boolean {
  if (isTerminal(lifecycle) || turns.newest(id) !== undefined) return false;
  return lifecycle.activity.state === "active" && isRecentlyActive(lifecycle.activity, clock.nowMs());
}

function busy(id: SessionId, what: string): AoError {
  return new AoError("busy", `session ${id} ${what}`, {
    hint: `wait until it rests (ao wait ${id}), stop it (ao cancel ${id}), or end it (ao kill ${id} --keep-worktree)`,
    details: { id },
  });
}
