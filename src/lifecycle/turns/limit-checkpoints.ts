import type { SessionDeps } from "../deps.ts";

/** A checkpoint that takes longer is not waited for by somebody who waits for something else, in milliseconds. */
const LONGEST_MS = 5_000;
/** Who asks for an answer at once gives it that long, too: most checkpoints take less. */
const SHORTEST_MS = 1_000;

/**
 * The same dependencies, whose checkpoints take no longer than their user has time left. A turn without a checkpoint
 * is a turn all the same.
 */
export function limitCheckpoints<Deps extends Pick<SessionDeps, "checkpoints">>(
  deps: Deps,
  leftMs: () => number,
): Deps {
  const { checkpoints } = deps;
  return {
    ...deps,
    checkpoints: {
      ...checkpoints,
      take: (workspace, turnId, edge, options = {}) => {
        const { withinMs = LONGEST_MS } = options;
        const limitMs = Math.min(withinMs, LONGEST_MS, Math.max(SHORTEST_MS, leftMs()));
        return checkpoints.take(workspace, turnId, edge, { ...options, withinMs: limitMs });
      },
    },
  };
}
