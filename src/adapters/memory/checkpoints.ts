import type { Checkpoints } from "../../ports/checkpoints.ts";

/** Keeps nothing. */
export function noCheckpoints(): Checkpoints {
  return { take: async () => null, forget: async () => {} };
}
