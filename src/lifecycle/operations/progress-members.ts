import { type JsonValue, jsonMembers } from "../../domain/canonical-json.ts";
import { AoError } from "../../domain/errors.ts";
import { parseLaunchId, parseProjectId, parseSessionId } from "../../domain/ids.ts";
import type { Operation } from "../../domain/operation.ts";

interface Members {
  readonly [name: string]: JsonValue;
}
type Test = (value: JsonValue | undefined) => boolean;
/** What has to hold of each part, which is named by its path, as `ref.sessionId`. */
export type Shape = Readonly<Record<string, Test>>;

const parsedBy =
  (parse: (text: string) => unknown): Test =>
  (value) =>
    typeof value === "string" && parse(value) !== undefined;

export const isText: Test = (value) => typeof value === "string";
export const isFlag: Test = (value) => typeof value === "boolean";
export const isAbsolute: Test = (value) => typeof value === "string" && value.startsWith("/");
export const isLaunchId = parsedBy(parseLaunchId);
export const isProjectId = parsedBy(parseProjectId);
export const isSessionId = parsedBy(parseSessionId);
export const isNullOr =
  (test: Test): Test =>
  (value) =>
    value === null || test(value);

/** A worktree as an operation keeps it, below `ref`. */
export const REF_SHAPE: Shape = {
  "ref.projectId": isProjectId,
  "ref.sessionId": isSessionId,
  "ref.repositoryPath": isAbsolute,
  "ref.path": isAbsolute,
};

/** What a worktree was to become, below `plan`. */
export const PLAN_SHAPE: Shape = {
  "plan.path": isAbsolute,
  "plan.branch": isText,
  "plan.branchExists": isFlag,
  "plan.baseCommit": isText,
};

/** What a worktree became, below `created`. */
export const CREATED_SHAPE: Shape = {
  "created.path": isAbsolute,
  "created.branch": isText,
  "created.branchCreated": isFlag,
  "created.baseCommit": isText,
};

/**
 * The members of something that an operation keeps, all of `shape` in it as it has to be.
 *
 * @throws AoError store_corrupt when it is not; `what` says of which part of the operation.
 */
export function requireShape(
  { id }: Pick<Operation, "id">,
  value: { readonly what: string; readonly json: JsonValue },
  shape: Shape,
): Members {
  const members = jsonMembers(value.json);
  const flaw = Object.entries(shape).find(([path, holds]) => !holds(partAt(value.json, path)))?.[0];
  if (members !== undefined && flaw === undefined) return members;
  throw new AoError("store_corrupt", `operation ${id} cannot be read (${value.what}.${flaw ?? ""})`, {
    hint: "ao doctor",
    details: { operationId: id },
  });
}

function partAt(json: JsonValue, path: string): JsonValue | undefined {
  return path
    .split(".")
    .reduce<JsonValue | undefined>((part, name) => jsonMembers(part ?? null)?.[name], json);
}

/** The `warnings` of a result. */
export function warningsIn(result: JsonValue): readonly string[] {
  const warnings = jsonMembers(result)?.["warnings"];
  return Array.isArray(warnings) ? warnings.map(String) : [];
}
