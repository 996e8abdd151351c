import type { SessionRecord } from "../../domain/session.ts";
import type { GoalProvenance } from "../../domain/turn.ts";
import type { SessionDeps } from "../deps.ts";
import { crossing } from "../operations/crossing.ts";
import { runtimeTarget } from "../session-refs.ts";
import { goalRuntimeOf } from "./step-control.ts";

/** All generations of a session that are revoked: what an agent is started with, so that it never works for one. */
export function fencedGenerations(
  { goals }: Pick<SessionDeps, "goals">,
  { id }: Pick<SessionRecord, "id">,
): readonly GoalProvenance[] {
  return goals.fences(id).map(({ target }) => target);
}

/**
 * Tells the agent of a launch that a person just started of every fence, once a launch. Warnings for those that it
 * did not take: nothing of them is delivered all the same.
 */
export async function restoreFences(deps: SessionDeps, record: SessionRecord): Promise<readonly string[]> {
  const { id: sessionId, metadata } = record;
  const missing = deps.goals.fences(sessionId).filter((one) => one.installedLaunchId !== metadata.launchId);
  const warnings: string[] = [];
  for (const fence of missing) {
    const { target: generation } = fence;
    const order = { sessionId, target: runtimeTarget(record) ?? null, generation, requireLive: false };
    const answer = await crossing(deps, "fence.restore", () => goalRuntimeOf(deps, sessionId).fence(order));
    if (answer.kind === "installed") deps.goals.markInstalled(fence, metadata.launchId);
    else warnings.push(`the agent was not told of the fence of ${generation.operationId}`);
  }
  return warnings;
}
