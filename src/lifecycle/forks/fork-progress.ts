import { canonicalJson, type JsonValue, jsonMembers, toJson } from "../../domain/canonical-json.ts";
import { AoError } from "../../domain/errors.ts";
import type { InheritedPart } from "../../domain/fork-origin.ts";
import type { LaunchId, SessionId, TurnId } from "../../domain/ids.ts";
import type { Operation } from "../../domain/operation.ts";
import type { SessionRecord } from "../../domain/session.ts";
import type { IdSource } from "../../ports/ids.ts";
import type { PostCreate } from "../../ports/post-create.ts";
import type { CreatedWorkspace, WorkspacePlan, WorkspaceRef } from "../../ports/workspace.ts";
import {
  CREATED_SHAPE,
  isAbsolute,
  isLaunchId,
  isSessionId,
  isText,
  PLAN_SHAPE,
  REF_SHAPE,
  requireShape,
  type Shape,
} from "../operations/progress-members.ts";

/** What a fork copies, as it was when it was asked for. Nothing of it ever changes. */
export interface Frozen {
  /** The session in which the last turn was worked on, and that turn. */
  readonly turnOf: SessionId;
  readonly turnId: TurnId;
  readonly checkpoint: { readonly ref: string; readonly commit: string; readonly head: string | null };
  /** The conversation of that turn, and the last of it that the fork has. */
  readonly conversation: {
    readonly agentSessionId: string;
    readonly workspacePath: string;
    /** As `ConversationPlace.home`; absent for `null`. */
    readonly home?: string | null;
    readonly throughPosition: number;
    /** The row of that session names it. */
    readonly isRecorded: boolean;
  };
  /** The messages through that turn; the last part is this fork's own until it is saved. */
  readonly inherits: readonly InheritedPart[];
  /** The row to be, without branch, worktree and runtime. */
  readonly seed: SessionRecord;
  /** Of the project. Its environment is kept in a private file, which this names. */
  readonly settings: {
    readonly environmentId: string;
    readonly postCreate: PostCreate;
  };
}

/** What an agent has made for a fork. */
export interface Accepted {
  /** `null` when only the agent's hooks tell. */
  readonly agentSessionId: string | null;
  readonly inheritedThrough: number | null;
}

/** What the steps of a fork have left behind. */
export interface ForkProgress {
  readonly phase: "prepared" | "dispatching" | "provider_accepted";
  readonly frozen: Frozen;
  /** Of `frozen`; `null` while the messages of its last part are not saved. */
  readonly hash: string | null;
  readonly ref: WorkspaceRef;
  /** The salvages of the name that it was to get, from before it had it; `null` before the worktree is planned. */
  readonly keptBefore: readonly string[] | null;
  /** `null` before the worktree is planned. */
  readonly plan: WorkspacePlan | null;
  /** `null` until the worktree is complete. */
  readonly created: CreatedWorkspace | null;
  readonly accepted: Accepted | null;
  /** The fork is over and is being taken back, and this is what it ends as. */
  readonly undoing?: {
    readonly status: "failed" | "unknown";
    readonly code: string;
    readonly message: string;
  };
}

const FORK_SHAPE: Shape = {
  ...REF_SHAPE,
  phase: isText,
  "frozen.turnOf": isSessionId,
  "frozen.turnId": isText,
  "frozen.checkpoint.ref": isText,
  "frozen.checkpoint.commit": isText,
  "frozen.conversation.agentSessionId": isText,
  "frozen.inherits": Array.isArray,
  "frozen.seed.id": isSessionId,
  "frozen.seed.metadata.launchId": isLaunchId,
  "frozen.seed.metadata.agent": isText,
  "frozen.seed.metadata.repositoryPath": isAbsolute,
};

/** @throws AoError store_corrupt when it is something else. */
export function parseForkProgress(operation: Operation): ForkProgress {
  const json = operation.progress;
  const members = jsonMembers(json);
  const shape = {
    ...FORK_SHAPE,
    ...(members?.["plan"] === null ? {} : PLAN_SHAPE),
    ...(members?.["created"] === null ? {} : CREATED_SHAPE),
  };
  return requireShape(operation, { what: "progress", json }, shape) as unknown as ForkProgress;
}

export function forkProgressJson(progress: ForkProgress): JsonValue {
  return toJson(progress);
}

/** The digest by which it is seen that what was frozen is what it was. */
export function hashOf({ operationId }: Pick<IdSource, "operationId">, frozen: Frozen): string {
  return operationId(["fork snapshot", canonicalJson(toJson(frozen))]);
}

/** The launch of the fork. */
export function forkLaunch({ frozen: { seed } }: ForkProgress): {
  readonly sessionId: SessionId;
  readonly launchId: LaunchId;
} {
  return { sessionId: seed.id, launchId: seed.metadata.launchId };
}

/** What a fork was asked for. */
export interface ForkInput {
  readonly sourceId: SessionId;
  readonly turnId: string | null;
  readonly branch: string | null;
  readonly prompt: string | null;
  readonly title: string | null;
}

/** @throws AoError store_corrupt */
export function forkInput({ id, input }: Operation): ForkInput {
  const members = jsonMembers(input);
  if (members !== undefined && isSessionId(members["sourceId"])) return members as unknown as ForkInput;
  throw new AoError("store_corrupt", `operation ${id} cannot be read (input)`, {
    hint: "ao doctor",
    details: { operationId: id },
  });
}
