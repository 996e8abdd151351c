import type { SessionRecord } from "../domain/session.ts";
import type { OnStep } from "./deps.ts";
import type { RequestOptions, WaitOptions } from "./request-options.ts";
import type { RestoreChoice } from "./restore-draft.ts";

export interface RestoreOptions extends RestoreChoice, RequestOptions, WaitOptions {
  /** Puts the work back that was kept when the worktree was freed; yes when not given. */
  readonly salvage?: boolean;
  readonly onStep?: OnStep;
}

export interface RestoreResult {
  readonly record: SessionRecord;
  readonly fresh: boolean;
  /** The salvage that this call put back; `null` when there was none. */
  readonly salvageRef: string | null;
  /** Things a person should know that were no failure. */
  readonly warnings: readonly string[];
}
