import type { PoolSettings, Spares } from "../../ports/spares.ts";

/** Where no worktrees are made ahead: none is wanted, and none is there. */
export function noSpares(): Spares {
  const none: PoolSettings = { size: 0, defaultBranch: null };
  const refuse = async () => {
    throw new Error("no worktree is made ahead here");
  };
  return { wanted: async () => none, base: refuse, plan: refuse, make: refuse, flaw: refuse };
}
