import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { type Effort, inTurns, run, summarize, USUAL } from "./measure.ts";
import { nodeStart, type Place } from "./place.ts";
import { inPlace, type Measured, NODE, type Row } from "./row.ts";

export const SPAWN_FLOOR = `git worktree add + tmux new-session + ${NODE}`;

/** The parts of a spawn that nobody can leave out, one after the other. */
function spawnFloor(place: Place, repository: string): () => number {
  const socket = join(place.root, "floor.sock");
  let count = 0;
  return () => {
    count += 1;
    const folder = join(place.root, `floor${count}`);
    const add = ["git", "worktree", "add", "-q", "-b", `floor${count}`, folder];
    const start = ["tmux", "-S", socket, "-f", "/dev/null", "new-session", "-d", "-c", folder, "sleep 600"];
    return run(add, { cwd: repository }).tookMs + run(start).tookMs + nodeStart();
  };
}

/** The first thing that this agent does is to make a file: its time is when it ran, up to 4 ms early (Linux). */
const AGENT = ["--agent", "shell", "--", "sh", "-c", 'true >"$0"; exec sleep 600'];

interface Spawned {
  readonly untilItRunsMs: number;
  readonly wholeMs: number;
}

function spawner(place: Place, cwd: string): () => Spawned {
  let count = 0;
  return () => {
    count += 1;
    const file = join(place.root, `ran${count}`);
    const startMs = performance.timeOrigin + performance.now();
    const { tookMs } = place.ao(["spawn", ...AGENT, file], { cwd });
    return { untilItRunsMs: statSync(file).mtimeMs - startMs, wholeMs: tookMs };
  };
}

/** As the row counts it, until the agent runs; the whole command, which watches it for a moment, is told. */
async function measured(
  { place, cwd, effort }: { readonly place: Place; readonly cwd: string; readonly effort: Effort },
  before: () => void = () => undefined,
): Promise<Measured> {
  const wholeMs: number[] = [];
  const spawn = spawner(place, cwd);
  const product = () => {
    before();
    const spawned = spawn();
    wholeMs.push(spawned.wholeMs);
    return spawned.untilItRunsMs;
  };
  const timing = await inTurns({ product, floor: spawnFloor(place, cwd) }, effort);
  const { medianMs, minMs, maxMs } = summarize(wholeMs);
  const [middle, least, most] = [medianMs, minMs, maxMs].map((ms) => ms.toFixed(1));
  process.stdout.write(`     until the prompt returns: ${middle} ms (${least}-${most})\n`);
  return timing;
}

export function spawnOf(fileCount: number): Promise<Measured> {
  return inPlace((place) => measured({ place, cwd: place.repository(fileCount), effort: USUAL }));
}

/** Each run takes one of the pool; what fills it again and takes floors down is not in the time. */
function spawnFromPool(fileCount: number): Promise<Measured> {
  return inPlace((place) => {
    const cwd = place.repository(fileCount);
    writeFileSync(join(cwd, "ao.yaml"), "pool: 1\n");
    place.ao(["project", "add"], { cwd });
    const effort = { warmups: 0, runs: 3, budgetMs: 45_000 };
    return measured({ place, cwd, effort }, () => void place.ao(["reconcile"], { cwd }));
  });
}

/** It takes longest of all for what is not in it, so it comes last: nothing else is left out for it. */
export const POOL_ROW: Row = {
  ...{ name: "spawn in 50,000 files, with a pool, until its agent runs", floor: SPAWN_FLOOR },
  ...{ atMost: 0.3, unit: "times the floor", limitMs: 300_000, measure: () => spawnFromPool(50_000) },
};
