import { type JsonValue, jsonMembers } from "../../domain/canonical-json.ts";
import type { Operation } from "../../domain/operation.ts";
import type { SessionRecord } from "../../domain/session.ts";
import type { StartedRuntime } from "../../ports/runtime.ts";
import type { CreatedWorkspace, WorkspacePlan, WorkspaceRef } from "../../ports/workspace.ts";
import {
  CREATED_SHAPE,
  isAbsolute,
  isLaunchId,
  isNullOr,
  isProjectId,
  isSessionId,
  isText,
  PLAN_SHAPE,
  REF_SHAPE,
  requireShape,
  type Shape,
} from "../operations/progress-members.ts";

/** What the steps of a spawn have left behind; there is none before the worktree is planned. */
export interface SpawnProgress {
  readonly ref: WorkspaceRef;
  readonly plan: WorkspacePlan;
  /** The row to be, without a runtime. */
  readonly seed: SessionRecord;
  /** `null` until the worktree is complete. No agent ever ran before. */
  readonly created: CreatedWorkspace | null;
  /** When this spawn registered its project, Unix milliseconds; `null` when that was there before. */
  readonly registeredAtMs?: number | null;
  /** What its agent is to be sent first, rules included; absent for one whose launch carries it. */
  readonly opening?: string;
  /** The spawn has failed and is being taken back. */
  readonly undoing?: boolean;
}

/** Members of a progress that say nothing of a worktree. */
const MARKS = new Set(["registeredAtMs", "undoing"]);

const SPAWN_SHAPE: Shape = {
  ...REF_SHAPE,
  ...PLAN_SHAPE,
  "seed.id": isSessionId,
  "seed.projectId": isProjectId,
  "seed.createdAtMs": (value) => typeof value === "number",
  "seed.lifecycle.session.state": isText,
  "seed.metadata.launchId": isLaunchId,
  "seed.metadata.agent": isText,
  "seed.metadata.agentSessionId": isNullOr(isText),
  "seed.metadata.repositoryPath": isAbsolute,
  "seed.metadata.workspacePath": isAbsolute,
  "seed.metadata.branch": isText,
};

/**
 * The progress of a spawn; `null` when nothing was made yet.
 *
 * @throws AoError store_corrupt when it is something else.
 */
export function parseSpawnProgress(operation: Operation): SpawnProgress | null {
  const json = operation.progress;
  if (json === null || isRegistrationOnly(json)) return null;
  const shape = { ...SPAWN_SHAPE, ...(jsonMembers(json)?.["created"] === null ? {} : CREATED_SHAPE) };
  return requireShape(operation, { what: "progress", json }, shape) as unknown as SpawnProgress;
}

/** The prompt that a spawn was asked for with; `null` when there was none. */
export function spawnPrompt({ input }: Operation): string | null {
  const prompt = jsonMembers(input)?.["prompt"];
  return typeof prompt === "string" ? prompt : null;
}

/** Before the worktree is planned there is at most a project that was registered. */
function isRegistrationOnly(json: JsonValue): boolean {
  const members = jsonMembers(json);
  return members !== undefined && Object.keys(members).every((name) => MARKS.has(name));
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
