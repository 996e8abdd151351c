import type { SessionRecord } from "./session.ts";

/**
 * A moment before the current launch of a session and after all that an earlier one could have said, Unix
 * milliseconds: what is older is none of this launch. Pure.
 */
export function launchedAtMs({ createdAtMs, metadata }: SessionRecord): number {
  return metadata.launchedAtMs ?? createdAtMs;
}
