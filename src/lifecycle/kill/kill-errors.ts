import { AoError, isAoError, saysUnchanged } from "../../domain/errors.ts";
import type { SessionId } from "../../domain/ids.ts";
import { isKeepable } from "../../domain/salvage.ts";
import type { SessionRecord } from "../../domain/session.ts";
import { isFreedError } from "../salvage/freed-error.ts";
import { adviceOn, describeRefusal, findingsIn, isMissing } from "../workspace-refusal.ts";

/** What a kill came to that was refused the worktree; all of it is told. */
interface Refused {
  readonly id: SessionId;
  readonly workspacePath: string | null;
  readonly alreadyTerminated: boolean;
}

/** What a kill was asked for that its repeat has to be asked for as well. */
export interface KillOrder {
  readonly salvage: boolean;
  readonly keepWorktree: boolean;
}

function killAgain(id: SessionId, { salvage, keepWorktree }: KillOrder): string {
  return `ao kill ${id}${salvage ? " --salvage" : ""}${keepWorktree ? " --keep-worktree" : ""}`;
}

/** Why a worktree stays that was to be freed, and what to do about it. */
export function refusedError(refusal: AoError, result: Refused, order: KillOrder): AoError {
  const { id, workspacePath, alreadyTerminated } = result;
  const why = describeRefusal(refusal);
  const findings = findingsIn(refusal);
  const mayBeKept = !order.salvage && findings.length > 0 && isKeepable(findings);
  const aside = mayBeKept ? `; or keep all of it aside: ao kill ${id} --salvage` : "";
  const what = isMissing(refusal) ? "its worktree was not freed" : "its worktree stays";
  const ended = alreadyTerminated ? "was terminated already" : "was terminated";
  // Who was asking this very thing needs no command to be told.
  const next = alreadyTerminated ? "; then ask the same again" : `; then: ${killAgain(id, order)}${aside}`;
  return new AoError(refusal.code, `session ${id} ${ended}, ${what}: ${why}`, {
    hint: `${adviceOn(refusal, workspacePath ?? "")}${next}`,
    details: { ...refusal.details, ...result, findings },
    cause: refusal,
  });
}

interface Stopped {
  readonly record: SessionRecord;
  readonly order: KillOrder;
  readonly what: string;
}

/** The session is over all the same, and the error says so: no code that promises that nothing was changed. */
function stoppedError(error: AoError, { record, order, what }: Stopped): AoError {
  const { id, metadata } = record;
  const { workspacePath } = metadata;
  return new AoError("teardown_incomplete", `session ${id} was terminated, ${what}: ${error.message}`, {
    hint: error.hint ?? `try again: ${killAgain(id, order)}`,
    details: { ...error.details, code: error.code, id, workspaceFreed: false, workspacePath },
    cause: error,
  });
}

/** A failure to end the agent of a session. */
export function unendedError(error: unknown, record: SessionRecord, order: KillOrder): unknown {
  return isAoError(error) && saysUnchanged(error)
    ? stoppedError(error, { record, order, what: "its agent may still run" })
    : error;
}

/** A failure of what comes once the agent has ended, the worktree not freed. The loss of a claim stays what it is. */
export function unfreedError(error: unknown, record: SessionRecord, order: KillOrder): unknown {
  if (!isAoError(error) || isAoError(error, "operation_in_progress") || isFreedError(error)) return error;
  return stoppedError(error, { record, order, what: whatStays(error, record) });
}

/** One that was begun to be taken away may lie elsewhere: the error itself says where. */
function whatStays(error: AoError, { metadata }: SessionRecord): string {
  if (metadata.workspacePath === "") return "it has no worktree";
  return isAoError(error, "teardown_incomplete") ? "its worktree was not freed whole" : "its worktree stays";
}
