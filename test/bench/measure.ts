import { spawnSync } from "node:child_process";
import { performance } from "node:perf_hooks";

/** Runs once and gives its duration in milliseconds; what it sets up and takes down is not in it. */
export type Work = () => number | Promise<number>;

export interface Timing {
  readonly medianMs: number;
  readonly minMs: number;
  readonly maxMs: number;
  readonly runs: number;
}

export interface Effort {
  readonly warmups: number;
  readonly runs: number;
  /** No further round begins after it, in milliseconds; one round is always made. */
  readonly budgetMs: number;
}

const MAX_OUTPUT_BYTES = 256 * 1024 * 1024;

export const USUAL: Effort = { warmups: 1, runs: 11, budgetMs: 30_000 };

/** The middle, and how far it spreads. */
export function summarize(timesMs: readonly number[]): Timing {
  const sorted = [...timesMs].sort((a, b) => a - b);
  const at = (index: number) => sorted[index] ?? Number.NaN;
  const half = (sorted.length - 1) / 2;
  return {
    medianMs: (at(Math.floor(half)) + at(Math.ceil(half))) / 2,
    minMs: at(0),
    maxMs: at(sorted.length - 1),
    runs: sorted.length,
  };
}

/** Measures product and floor in turns, so that what else the machine does falls on both. */
export async function inTurns(
  { product, floor }: { readonly product: Work; readonly floor: Work },
  { warmups, runs, budgetMs }: Effort = USUAL,
): Promise<{ readonly product: Timing; readonly floor: Timing }> {
  for (let count = 0; count < warmups; count++) {
    await product();
    await floor();
  }
  const times: { product: number[]; floor: number[] } = { product: [], floor: [] };
  const endMs = performance.now() + budgetMs;
  do {
    times.product.push(await product());
    times.floor.push(await floor());
  } while (times.product.length < runs && performance.now() < endMs);
  return { product: summarize(times.product), floor: summarize(times.floor) };
}

/** How long a work takes, in milliseconds. */
export async function durationOf(work: () => unknown): Promise<number> {
  const startMs = performance.now();
  await work();
  return performance.now() - startMs;
}

export interface Ran {
  readonly tookMs: number;
  readonly stdout: string;
}

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
}

/** Runs one process to its end. @throws Error when it fails: a bench of a failure measures nothing. */
export function run(argv: readonly string[], { cwd, env = process.env }: RunOptions = {}): Ran {
  const [program = "", ...args] = argv;
  const startMs = performance.now();
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    ...{ cwd, env, encoding: "utf8", maxBuffer: MAX_OUTPUT_BYTES },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const tookMs = performance.now() - startMs;
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`${argv.join(" ")} ended with ${status}: ${stderr}`);
  return { tookMs, stdout };
}
