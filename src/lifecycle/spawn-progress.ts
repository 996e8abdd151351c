import { jsonMembers } from "../domain/canonical-json.ts";
import type { Operation } from "../domain/operation.ts";
import type { SessionRecord } from "../domain/session.ts";
import type { StartedRuntime } from "../ports/runtime.ts";
import type { CreatedWorkspace, WorkspacePlan, WorkspaceRef } from "../ports/workspace.ts";
import { requireMembers } from "./operations/progress-members.ts";

/** What the steps of a spawn have left behind; there is none before the worktree is planned. */
export interface SpawnProgress {
  readonly ref: WorkspaceRef;
  readonly plan: WorkspacePlan;
  /** The row to be, without a runtime. */
  readonly seed: SessionRecord;
  /** `null` until the worktree is complete. No agent ever ran before. */
  readonly created: CreatedWorkspace | null;
  /** The spawn has failed and is being taken back. */
  readonly undoing?: boolean;
}

/**
 * The progress of a spawn; `null` when nothing was made yet.
 *
 * @throws AoError store_corrupt when it is something else.
 */
export function parseSpawnProgress(operation: Operation): SpawnProgress | null {
  if (operation.progress === null) return null;
  return requireMembers(operation, ["ref", "plan", "seed"]) as unknown as SpawnProgress;
}

/** The prompt that a spawn was asked for with; `null` when there was none. */
export function spawnPrompt({ input }: Operation): string | null {
  const prompt = jsonMembers(input)?.["prompt"];
  return typeof prompt === "string" ? prompt : null;
}

/** The row of a spawn whose runtime is up. */
export function spawnedRecord(
  { seed, plan, created }: SpawnProgress,
  started: StartedRuntime,
): SessionRecord {
  const { path, branch, baseRef, baseCommit } = created ?? plan;
  const runtime = { runtime: started.handle, process: started.process };
  return {
    ...seed,
    metadata: { ...seed.metadata, workspacePath: path, branch, baseRef, baseCommit, ...runtime },
  };
}
