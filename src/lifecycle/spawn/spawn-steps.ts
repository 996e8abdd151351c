import { jsonMembers, toJson } from "../../domain/canonical-json.ts";
import type { SessionId } from "../../domain/ids.ts";
import { isTerminal } from "../../domain/lifecycle.ts";
import type { LeasedOperation } from "../../domain/operation.ts";
import type { SessionRecord } from "../../domain/session.ts";
import type { MarkedRuntime, StartedRuntime } from "../../ports/runtime.ts";
import type { SessionDeps } from "../deps.ts";
import { prepareControl } from "../goals/prepare-control.ts";
import { lifecycleManager } from "../lifecycle-manager.ts";
import { acceptLaunchPrompt } from "../messages/accept-launch-prompt.ts";
import { crossing } from "../operations/crossing.ts";
import { operationLedger } from "../operations/ledger.ts";
import { undoRegistration } from "../projects/project-registration.ts";
import { takeBackLeft } from "../recovery/take-back-left.ts";
import type { UndoStep } from "../undo.ts";
import {
  discardWorkspace,
  newConversationOf,
  undoLaunch,
  undoRow,
  undoRuntime,
  undoWorkspace,
} from "../undo-steps.ts";
import { parseSpawnProgress, type SpawnProgress, spawnedRecord, spawnPrompt } from "./spawn-progress.ts";

/**
 * Adds the row of a session whose runtime is up, unless it is there.
 *
 * @throws AoError operation_in_progress when another process carries the spawn on; nothing is written then.
 */
export async function seedSpawned(
  deps: SessionDeps,
  held: LeasedOperation,
  { progress, started }: { readonly progress: SpawnProgress; readonly started: StartedRuntime },
): Promise<void> {
  const record = spawnedRecord(progress, started);
  if (deps.store.get(record.id) !== undefined) return;
  await crossing(deps, "spawn.row.insert", () =>
    operationLedger(deps).checkpoint(held, toJson(progress), (store) => {
      lifecycleManager({ ...deps, store }).onSpawnInitiated(record, spawnPrompt(held));
      const { seed, opening } = progress;
      acceptLaunchPrompt(deps, record, { sinceMs: seed.createdAtMs, opening });
    }),
  );
}

/** The last step of a spawn: the row is complete when the operation is. */
export async function completeSpawned(
  deps: SessionDeps,
  held: LeasedOperation,
  { progress, started }: { readonly progress: SpawnProgress; readonly started: StartedRuntime },
): Promise<SessionRecord> {
  const { id } = progress.seed;
  let completed: SessionRecord | undefined;
  const result = { sessionId: id, warnings: progress.created?.warnings ?? [] };
  await crossing(deps, "spawn.complete", () =>
    operationLedger(deps).complete(held, result, (store) => {
      completed = lifecycleManager({ ...deps, store }).onSpawnCompleted(id, started);
      setGoal({ ...deps, store }, held, id);
    }),
  );
  return completed ?? spawnedRecord(progress, started);
}

/** The goal that it was asked for with begins with it. */
function setGoal(deps: SessionDeps, held: LeasedOperation, id: SessionId): void {
  const goal = jsonMembers(jsonMembers(held.input)?.["goal"] ?? null);
  if (typeof goal?.["objective"] !== "string") return;
  const { objective, maxTurns, until } = goal;
  prepareControl(deps, id, {
    ...{ action: "set", objective, subject: `spawn:${held.id}` },
    maxTurns: typeof maxTurns === "number" ? maxTurns : null,
    until: typeof until === "string" ? until : null,
  });
}

/**
 * Carries on a spawn that its process left: to its end when the agent runs, else back.
 *
 * @throws AoError when it could not be looked at or taken back now; it may be tried again then.
 */
export async function recoverSpawn(deps: SessionDeps, held: LeasedOperation): Promise<void> {
  const progress = parseSpawnProgress(held);
  const registration = undoRegistration(deps, held);
  if (progress === null) return takeBackLeft(deps, held, registration);
  const { id, metadata } = progress.seed;
  const row = deps.store.get(id);
  const found = progress.created === null ? undefined : await deps.runtime.find(id, metadata.launchId);
  const started = mayFinish(progress, row) ? startedBy(found) : null;
  if (started === null) {
    return takeBackLeft(deps, held, [...registration, ...stepsLeft(deps, { progress, row, found })]);
  }
  await seedSpawned(deps, held, { progress, started });
  await completeSpawned(deps, held, { progress, started });
}

function mayFinish({ undoing }: SpawnProgress, row: SessionRecord | undefined): boolean {
  return undoing !== true && (row === undefined || !isTerminal(row.lifecycle));
}

/** A runtime whose agent lives. */
export function startedBy(found: MarkedRuntime | undefined): StartedRuntime | null {
  if (found === undefined || found.process === null) return null;
  return { handle: found.handle, process: found.process };
}

interface Left {
  readonly progress: SpawnProgress;
  readonly row: SessionRecord | undefined;
  readonly found: MarkedRuntime | undefined;
}

function stepsLeft(deps: SessionDeps, { progress, row, found }: Left): readonly UndoStep[] {
  const { ref, plan, created, seed } = progress;
  const { launchId, agent, agentSessionId } = seed.metadata;
  const newConversation = newConversationOf(agent, agentSessionId);
  const launch = { sessionId: seed.id, launchId };
  return [
    created === null
      ? discardWorkspace(deps, ref, plan)
      : undoWorkspace(deps, ref, { created, newConversation }),
    undoLaunch(deps, launch),
    ...(found === undefined ? [] : [undoRuntime(deps, found)]),
    ...(row === undefined ? [] : [undoRow(deps, seed.id)]),
  ];
}
