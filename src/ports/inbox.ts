import type { HookEvent } from "../domain/facts.ts";

/** Hook events that wait to be read, one file each. */
export interface Inbox {
  /** All waiting events, oldest first. Malformed ones are left out. A pure read. */
  pending(): Promise<readonly HookEvent[]>;
  /** Takes events away after they were applied. Idempotent; unknown ids are no error. */
  remove(ids: readonly string[]): Promise<void>;
  /** Leaves one event for a later read. */
  put(event: Omit<HookEvent, "id">): Promise<void>;
}
