import type { SessionRecord } from "../../domain/session.ts";

/** What a restore did. */
export interface RestoreResult {
  readonly record: SessionRecord;
  readonly fresh: boolean;
  /** The salvage that this call put back; `null` when there was none. */
  readonly salvageRef: string | null;
  /** Things a person should know that were no failure. */
  readonly warnings: readonly string[];
}
