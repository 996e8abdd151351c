import { AoError, isAoError, saysUnchanged } from "../domain/errors.ts";
import type { SessionId } from "../domain/ids.ts";
import { isKeepable } from "../domain/salvage.ts";
import type { SessionRecord } from "../domain/session.ts";
import { isFreedError } from "./salvage/freed-error.ts";
import { adviceOn, describeRefusal, findingsIn, isMissing } from "./workspace-refusal.ts";

/** What a kill came to that was refused the worktree; all of it is told. */
interface Refused {
  readonly id: SessionId;
  readonly workspacePath: string | null;
}

/** Why a worktree stays that was to be freed, and what to do about it. */
export function refusedError(refusal: AoError, result: Refused): AoError {
  const { id, workspacePath } = result;
  const why = describeRefusal(refusal);
  const findings = findingsIn(refusal);
  const mayBeKept = findings.length > 0 && isKeepable(findings);
  const aside = mayBeKept ? `; or keep all of it aside: ao kill ${id} --salvage` : "";
  const what = isMissing(refusal) ? "its worktree was not freed" : "its worktree stays";
  return new AoError(refusal.code, `session ${id} was terminated, ${what}: ${why}`, {
    hint: `${adviceOn(refusal, workspacePath ?? "")}; then: ao kill ${id}${aside}`,
    details: { ...refusal.details, ...result, findings },
    cause: refusal,
  });
}

/** The session is over all the same, and the error says so: no code that promises that nothing was changed. */
function stoppedError(error: AoError, { id, metadata }: SessionRecord, what: string): AoError {
  const { workspacePath } = metadata;
  return new AoError("teardown_incomplete", `session ${id} was terminated, ${what}: ${error.message}`, {
    hint: error.hint ?? `try again: ao kill ${id}`,
    details: { ...error.details, code: error.code, id, workspaceFreed: false, workspacePath },
    cause: error,
  });
}

/** A failure to end the agent of a session. */
export function unendedError(error: unknown, record: SessionRecord): unknown {
  return isAoError(error) && saysUnchanged(error)
    ? stoppedError(error, record, "its agent may still run")
    : error;
}

/** A failure of what comes once the agent has ended, the worktree not freed. The loss of a claim stays what it is. */
export function unfreedError(error: unknown, record: SessionRecord): unknown {
  if (!isAoError(error) || isAoError(error, "operation_in_progress") || isFreedError(error)) return error;
  return stoppedError(error, record, whatStays(error, record));
}

/** One that was begun to be taken away may lie elsewhere: the error itself says where. */
function whatStays(error: AoError, { metadata }: SessionRecord): string {
  if (metadata.workspacePath === "") return "it has no worktree";
  return isAoError(error, "teardown_incomplete") ? "its worktree was not freed whole" : "its worktree stays";
}
