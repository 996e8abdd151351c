import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { inTurns } from "./measure.ts";
import { inPlace, type Measured, NODE, type Row, SHELL, spawnFloor } from "./rows.ts";

/** Each run takes one of the pool; what fills it again and takes floors down is not in the time. */
function spawnFromPool(fileCount: number): Promise<Measured> {
  return inPlace(async (place) => {
    const cwd = place.repository(fileCount);
    writeFileSync(join(cwd, "ao.yaml"), "pool: 1\n");
    const product = () => {
      place.ao(["reconcile"], { cwd });
      return place.ao(["spawn", ...SHELL, "sleep", "600"], { cwd }).tookMs;
    };
    place.ao(["project", "add"], { cwd });
    const floor = spawnFloor(place, cwd);
    return inTurns({ product, floor }, { warmups: 0, runs: 3, budgetMs: 45_000 });
  });
}

/** It takes longest of all for what is not in it, so it comes last: nothing else is left out for it. */
export const POOL_ROW: Row = {
  ...{ name: "spawn in 50,000 files, with a pool", floor: `git worktree add + tmux new-session + ${NODE}` },
  ...{ atMost: 0.3, unit: "times the floor", limitMs: 300_000, measure: () => spawnFromPool(50_000) },
};
