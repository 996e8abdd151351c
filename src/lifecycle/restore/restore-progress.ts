import { type JsonValue, jsonMembers, toJson } from "../../domain/canonical-json.ts";
import type { LaunchId } from "../../domain/ids.ts";
import type { Operation } from "../../domain/operation.ts";
import type { CreatedWorkspace, WorkspacePlan, WorkspaceRef } from "../../ports/workspace.ts";
import {
  CREATED_SHAPE,
  isLaunchId,
  isNullOr,
  isText,
  PLAN_SHAPE,
  REF_SHAPE,
  requireShape,
} from "../operations/progress-members.ts";

/** What the steps of a restore have left behind; there is none before the worktree is planned. */
export interface RestoreProgress {
  readonly ref: WorkspaceRef;
  /** `null` when the worktree stood before: then it is not this restore's to remove. */
  readonly plan: WorkspacePlan | null;
  readonly launchId: LaunchId;
  readonly agentSessionId: string | null;
  /** As `SessionMetadata.agentHome` of the launch. */
  readonly agentHome?: string | null;
  /** `null` until the worktree is there. No agent of this launch ever ran before. */
  readonly created: CreatedWorkspace | null;
  /** The salvage that was put back into it; `null` or absent for none. */
  readonly putBack?: string | null;
  /** A new conversation is begun although the old one was asked for, since that never began. */
  readonly begins?: boolean;
  /** What its agent is to be sent first, rules included; absent for one whose launch carries it. */
  readonly opening?: string;
  /** The restore has failed and is being taken back. */
  readonly undoing?: boolean;
}

/** The progress of a restore whose worktree is there. */
export type RestoredProgress = RestoreProgress & { readonly created: CreatedWorkspace };

/** As the ledger keeps it. */
export function restoreProgressJson(progress: RestoreProgress): JsonValue {
  return toJson(progress);
}

/**
 * The progress of a restore; `null` when nothing was made yet.
 *
 * @throws AoError store_corrupt when it is something else.
 */
export function parseRestoreProgress(operation: Operation): RestoreProgress | null {
  const json = operation.progress;
  if (json === null) return null;
  const members = jsonMembers(json);
  const shape = {
    ...REF_SHAPE,
    launchId: isLaunchId,
    agentSessionId: isNullOr(isText),
    ...(members?.["plan"] === null ? {} : PLAN_SHAPE),
    ...(members?.["created"] === null ? {} : CREATED_SHAPE),
  };
  return requireShape(operation, { what: "progress", json }, shape) as unknown as RestoreProgress;
}
