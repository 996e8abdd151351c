import type { HookEvent } from "../domain/facts.ts";
import type { LaunchId } from "../domain/ids.ts";

/** Hook events that wait to be read, one file each. */
export interface Inbox {
  /**
   * All waiting events, or those of one launch, oldest first, those of one time in the order they were put.
   * Malformed ones, and those that are still being written, are left out. A pure read.
   *
   * @throws AoError data_dir_unusable when the inbox is there and cannot be read.
   */
  pending(launchId?: LaunchId): Promise<readonly HookEvent[]>;
  /**
   * Takes events away after they were applied. Idempotent; unknown ids are no error.
   *
   * @throws AoError data_dir_unusable when one cannot be removed.
   */
  remove(ids: readonly string[]): Promise<void>;
  /**
   * Takes events that nobody will apply out of the way, and keeps them for a person to look at. Idempotent;
   * unknown ids are no error.
   *
   * @throws AoError data_dir_unusable when one cannot be moved.
   */
  setAside(ids: readonly string[]): Promise<void>;
  /**
   * Sets aside whatever waits and is no event, also one whose writer stopped half way a day before `nowMs`, and
   * removes what can be of no more use: drafts of as long ago, what was set aside 14 days before it. Idempotent.
   *
   * @returns how many lie aside now.
   * @throws AoError data_dir_unusable when the inbox cannot be read or changed.
   */
  tidy(nowMs: number): Promise<number>;
  /**
   * How many lie aside. A pure read.
   *
   * @throws AoError data_dir_unusable when the inbox is there and cannot be read.
   */
  countAside(): Promise<number>;
  /**
   * Leaves one event for a later read.
   *
   * @throws AoError usage when it could not be read back: a malformed name, a body over 8 MiB.
   * @throws AoError data_dir_unusable when it cannot be written.
   */
  put(event: Omit<HookEvent, "id">): Promise<void>;
}
