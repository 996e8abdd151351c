import { checkpointRef } from "../../domain/checkpoint.ts";
import { AoError } from "../../domain/errors.ts";
import { keptLate } from "../../domain/kept-late.ts";
import type { CompletedState, LeasedOperation, Operation } from "../../domain/operation.ts";
import type { SessionRecord } from "../../domain/session.ts";
import type { StartedRuntime } from "../../ports/runtime.ts";
import type { SessionDeps } from "../deps.ts";
import { prepareLaunch, requireAgent } from "../launch-agent.ts";
import { lifecycleManager } from "../lifecycle-manager.ts";
import { insertMessage, nextMessage } from "../messages/message-rows.ts";
import { crossing } from "../operations/crossing.ts";
import { fenceOf } from "../operations/fence-of.ts";
import { operationLedger } from "../operations/ledger.ts";
import { startedBy } from "../spawn/spawn-steps.ts";
import { askedEnvironment } from "./asked-environment.ts";
import { forkDraft } from "./fork-launch.ts";
import { type Accepted, type ForkProgress, forkInput, forkLaunch } from "./fork-progress.ts";
import type { WithWorkspace } from "./fork-workspace.ts";
import { replayText } from "./replay-text.ts";

export type AcceptedFork = WithWorkspace & { readonly accepted: Accepted };

export interface CommittedFork {
  readonly operation: Operation<CompletedState>;
  readonly record: SessionRecord;
}

/**
 * Makes the session of a fork whose conversation is there: starts its agent unless it runs, then row, lineage, what
 * it is sent first and the end of the operation in one transaction. May be repeated.
 *
 * @throws AoError as `Runtime.create`; the fork can be committed later then.
 */
export async function commitFork(
  deps: SessionDeps,
  held: LeasedOperation,
  progress: AcceptedFork,
): Promise<CommittedFork> {
  const first = await firstMessage(deps, held, progress);
  const started = await runningAgent(deps, held, progress);
  const record = recordOf(held, progress, deps.clock.nowMs());
  const { prompt } = forkInput(held);
  let committed: SessionRecord | undefined;
  const warnings = [...progress.created.warnings, ...lateness(deps, progress)];
  const result = { status: "committed", sessionId: record.id, warnings };
  const operation = await crossing(deps, "fork.commit", () =>
    operationLedger(deps).complete(held, result, (store) => {
      const manager = lifecycleManager({ ...deps, store });
      manager.onSpawnInitiated(record, prompt);
      committed = manager.onSpawnCompleted(record.id, started);
      if (first === null) return;
      insertMessage(deps, nextMessage(deps, record, { channel: "terminal", requestId: null, text: first }));
    }),
  );
  return { operation, record: committed ?? record };
}

/** Whether the files that it begins with were those of later than the turn that it begins after. */
function lateness({ turns }: SessionDeps, { frozen }: ForkProgress): readonly string[] {
  const { turnOf: sessionId, turnId, seed } = frozen;
  const turn = turns.get({ projectId: seed.projectId, sessionId, turnId });
  const late = turn === undefined ? null : keptLate(turn);
  return late === null ? [] : [late];
}

/** The agent of this launch, alive: found, or started with its conversation. */
async function runningAgent(
  deps: SessionDeps,
  held: LeasedOperation,
  progress: AcceptedFork,
): Promise<StartedRuntime> {
  const { sessionId, launchId } = forkLaunch(progress);
  const found = await deps.runtime.find(sessionId, launchId);
  const running = startedBy(found);
  if (running !== null) return running;
  if (progress.accepted.agentSessionId === null) throw conversationLost(progress);
  if (found !== undefined) await crossing(deps, "fork.ended", () => deps.runtime.destroy(found));
  const asked = await askedEnvironment(deps, progress);
  const fence = fenceOf(deps, held);
  const spec = await crossing(deps, "fork.launch.files", () =>
    prepareLaunch({ ...deps, callerEnv: asked.callerEnv }, forkDraft(deps, progress, asked), fence),
  );
  return crossing(deps, "fork.runtime.create", () => deps.runtime.create({ ...spec, fence }));
}

function conversationLost({ frozen: { seed } }: ForkProgress): AoError {
  return new AoError(
    "agent_session_unknown",
    `the agent of ${seed.id} ended before it named its conversation`,
  );
}

/** An agent that cannot copy a conversation is told of it, and then what it is asked. */
async function firstMessage(
  deps: SessionDeps,
  held: LeasedOperation,
  { frozen }: AcceptedFork,
): Promise<string | null> {
  const { prompt } = forkInput(held);
  const { fork } = requireAgent(deps, frozen.seed.metadata.agent);
  return fork?.kind === "replay" ? replayText(deps, frozen, prompt) : prompt;
}

function recordOf(
  held: LeasedOperation,
  { frozen, created, accepted }: AcceptedFork,
  nowMs: number,
): SessionRecord {
  const { seed, turnId, turnOf, checkpoint, inherits } = frozen;
  const { sourceId } = forkInput(held);
  const { path: workspacePath, branch, baseRef, baseCommit } = created;
  return {
    ...seed,
    ...{ createdAtMs: nowMs, updatedAtMs: nowMs },
    metadata: {
      ...seed.metadata,
      ...{ workspacePath, branch, baseRef, baseCommit, agentSessionId: accepted.agentSessionId },
      fork: {
        ...{ parentId: sourceId, turnId, turnOf, operationId: held.id, inherits },
        checkpoint: { ref: checkpointRef(seed.id, turnId, "end"), commit: checkpoint.commit },
        conversationId: accepted.agentSessionId,
        inheritedThrough: accepted.inheritedThrough,
      },
    },
  };
}
