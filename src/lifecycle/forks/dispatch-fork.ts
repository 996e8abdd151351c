import { errorMessage, isAoError, saysUnchanged } from "../../domain/errors.ts";
import type { LeasedOperation } from "../../domain/operation.ts";
import type { ForkAnswer } from "../../ports/agent.ts";
import type { SessionDeps } from "../deps.ts";
import { prepareLaunch, requireAgent } from "../launch-agent.ts";
import { crossing } from "../operations/crossing.ts";
import { fenceOf } from "../operations/fence-of.ts";
import { operationLedger } from "../operations/ledger.ts";
import { askedEnvironment } from "./asked-environment.ts";
import { copyRequest, forkDraft, nativeConversation } from "./fork-launch.ts";
import { type Accepted, type ForkProgress, forkProgressJson } from "./fork-progress.ts";
import type { WithWorkspace } from "./fork-workspace.ts";

/** What the one call to an agent came to. */
export type Dispatched =
  | { readonly kind: "accepted"; readonly progress: WithWorkspace }
  /** Proven: it made no conversation, nor will it. */
  | { readonly kind: "refused"; readonly why: string }
  | { readonly kind: "unknown"; readonly why: string };

/**
 * Asks the agent for the second conversation. That it is being asked is on record before; who finds that and did not
 * write it never asks again.
 *
 * @throws AoError when nothing was asked yet; and operation_in_progress when the claim was lost.
 */
export async function dispatchFork(
  deps: SessionDeps,
  held: LeasedOperation,
  progress: WithWorkspace,
): Promise<Dispatched> {
  const call = await preparedCall(deps, held, progress);
  const marked = forkProgressJson({ ...progress, phase: "dispatching" } satisfies ForkProgress);
  await crossing(deps, "fork.dispatch", () => operationLedger(deps).checkpoint(held, marked));
  const answer = await crossing(deps, "fork.agent", () => call());
  if (answer.kind !== "accepted") return answer;
  const { agentSessionId, inheritedThrough } = answer;
  const isOther = agentSessionId !== "" && agentSessionId !== progress.frozen.conversation.agentSessionId;
  if (!isOther) return { kind: "unknown", why: "the agent named no conversation of the fork's own" };
  const accepted: Accepted = { agentSessionId, inheritedThrough };
  const next = { ...progress, phase: "provider_accepted", accepted } as const;
  await crossing(deps, "fork.accepted", () => operationLedger(deps).checkpoint(held, forkProgressJson(next)));
  return { kind: "accepted", progress: next };
}

type Answer = Exclude<Dispatched, { readonly kind: "accepted" }> | (Accepted & { readonly kind: "accepted" });

async function copied(copy: () => Promise<ForkAnswer>): Promise<Answer> {
  try {
    return await copy();
  } catch (error) {
    // Exit code 5 promises that nothing was changed.
    const kind = isAoError(error) && saysUnchanged(error) ? "refused" : "unknown";
    return { kind, why: errorMessage(error) };
  }
}

/** A start that failed may have begun: its code promises of the runtime only, and not of what an agent did by then. */
async function startedBy(start: () => Promise<unknown>, accepted: Accepted): Promise<Answer> {
  try {
    await start();
    return { kind: "accepted", ...accepted };
  } catch (error) {
    if (isAoError(error, "operation_in_progress")) throw error;
    return { kind: "unknown", why: errorMessage(error) };
  }
}

/** For an agent whose own command forks, the call is the start of that command; its files are written before. */
async function preparedCall(
  deps: SessionDeps,
  held: LeasedOperation,
  progress: WithWorkspace,
): Promise<() => Promise<Answer>> {
  const { fork } = requireAgent(deps, progress.frozen.seed.metadata.agent);
  if (fork?.kind === "prefix") return () => copied(() => fork.copy(copyRequest(deps, progress)));
  const asked = await askedEnvironment(deps, progress);
  const fence = fenceOf(deps, held);
  const spec = await crossing(deps, "fork.launch.files", () =>
    prepareLaunch({ ...deps, callerEnv: asked.callerEnv }, forkDraft(deps, progress, asked), fence),
  );
  const agentSessionId = nativeConversation(deps, progress);
  const { throughPosition } = progress.frozen.conversation;
  const inheritedThrough = fork?.kind === "native" ? throughPosition : null;
  const start = () => deps.runtime.create({ ...spec, fence });
  return () => startedBy(start, { agentSessionId, inheritedThrough });
}
