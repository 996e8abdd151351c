import type { AoErrorCode } from "../../domain/errors.ts";
import type { SessionId } from "../../domain/ids.ts";
import type { OperationId, OperationKind } from "../../domain/operation.ts";

/**
 * What became of an operation that somebody left: carried to its end, taken back, or left for a later try
 * because something could not be reached now.
 */
export type RecoveryOutcome = "finished" | "undone" | "left";

export interface RecoveredOperation {
  readonly id: OperationId;
  readonly kind: OperationKind;
  readonly sessionId: SessionId | null;
  readonly outcome: RecoveryOutcome;
}

/** Something that could not be looked at or carried on; everything else was. */
export interface RecoveryError {
  /** What it concerns, for example `spawn of app-3`, `runtime` or `worktree /…/app-3`. */
  readonly subject: string;
  readonly code: AoErrorCode;
  readonly message: string;
}

export interface Recovery {
  /** Those that were taken over, by creation. */
  readonly operations: readonly RecoveredOperation[];
  readonly errors: readonly RecoveryError[];
}
