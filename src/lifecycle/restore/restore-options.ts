import type { OnStep } from "../deps.ts";
import type { RequestOptions, WaitOptions } from "../request-options.ts";
import type { RestoreChoice } from "./restore-draft.ts";

export interface RestoreOptions extends RestoreChoice, RequestOptions, WaitOptions {
  /** Puts the work back that was kept when the worktree was freed; yes when not given. */
  readonly salvage?: boolean;
  readonly onStep?: OnStep;
}
