import { type OperationId, parseOperationId } from "../../domain/operation.ts";

/** In the environment of every child process of a making: by it they are found when their parent died. */
export const OPERATION_VARIABLE = "AO_OPERATION_ID";

const REASON = "ao operation ";

/**
 * Why git holds a worktree locked while an operation makes it. git writes it first of all into the record, so
 * that it tells whose the record is before anything else can (builtin/worktree.c, 2.33 to 2.39).
 */
export function lockReasonOf(operationId: OperationId): string {
  return `${REASON}${operationId}`;
}

/** The operation that a lock's reason names; `null` for any other reason. */
export function operationOfReason(reason: string | undefined): OperationId | null {
  if (reason?.startsWith(REASON) !== true) return null;
  return parseOperationId(reason.slice(REASON.length)) ?? null;
}

/** What an older git, which cannot be given a reason, writes of itself while it adds a worktree. */
const NAMELESS_REASONS = ["initializing", "added with --lock"];

/** Whether a worktree is locked because it is being made, by this operation or by nobody knows which. */
export function isBeingMade(reason: string | undefined, operationId: OperationId | null): boolean {
  if (reason === undefined) return false;
  if (NAMELESS_REASONS.includes(reason)) return true;
  return operationId !== null && operationOfReason(reason) === operationId;
}

/** `env` with the mark of the operation, or without any. A new record. */
export function markedEnvironment(
  env: Readonly<Record<string, string>>,
  operationId: OperationId | null,
): Record<string, string> {
  const { [OPERATION_VARIABLE]: _outer, ...rest } = env;
  return operationId === null ? rest : { ...rest, [OPERATION_VARIABLE]: operationId };
}
