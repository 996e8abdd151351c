import { readdirSync } from "node:fs";
import { performance } from "node:perf_hooks";
import { type Ao, openAo } from "../../src/compose.ts";
import { reconcile } from "../../src/lifecycle/recovery/reconcile.ts";
import { crowd } from "./crowd.ts";
import { summarize } from "./measure.ts";
import { aPlace } from "./place.ts";
import type { Measured, Row } from "./row.ts";

const LIVE = 10;
/** Until compiled code and caches are what they stay. */
const WARM_UP = 200;
/** What so many ticks may take: a slow machine makes as many as it can by then. */
const maxMs = (ticks: number) => Math.max(120_000, 45 * ticks);
const TAKING_DOWN_MS = 30_000;
/** How often on the way what stands is told. */
const PARTS = 4;

/** What a part of the ticks took. Memory goes up and down with the garbage, so that a single look tells little. */
interface Standing {
  readonly leastRssMb: number;
  readonly mostRssMb: number;
  readonly descriptors: number;
}

const rssMb = () => process.memoryUsage.rss() / 1024 ** 2;

function standing(rssMbs: readonly number[]): Standing {
  const [leastRssMb, mostRssMb] = [Math.min(...rssMbs), Math.max(...rssMbs)];
  return { leastRssMb, mostRssMb, descriptors: readdirSync("/proc/self/fd").length };
}

const inWords = ({ leastRssMb, mostRssMb, descriptors }: Standing) =>
  `${leastRssMb.toFixed(1)} to ${mostRssMb.toFixed(1)} MB, ${descriptors} descriptors`;

/** Ticks without the pauses between them, until their number or time is up; the memory after each. */
async function tick(ao: Ao, { ticks, endMs }: { readonly ticks: number; readonly endMs: number }) {
  const rssMbs: number[] = [];
  while (rssMbs.length < ticks && performance.now() < endMs) {
    const { errors } = await reconcile(ao.deps);
    if (errors.length > 0) throw new Error(JSON.stringify(errors));
    rssMbs.push(rssMb());
  }
  return rssMbs;
}

/**
 * The ticks of `ao reconcile --interval` in this process; in MB what the least memory of the last part is above that
 * of the first.
 */
async function grow(ticks: number): Promise<Measured> {
  const place = aPlace();
  try {
    await crowd(place, { total: 10 * LIVE, live: LIVE });
    const ao = await openAo({ env: place.env, cwd: place.root, access: "create" });
    const endMs = performance.now() + maxMs(ticks);
    await tick(ao, { ticks: WARM_UP, endMs });
    const standings: Standing[] = [];
    let count = 0;
    for (let part = 0; part < PARTS; part += 1) {
      const rssMbs = await tick(ao, { ticks: Math.ceil(ticks / PARTS), endMs });
      if (rssMbs.length > 0) standings.push(standing(rssMbs));
      count += rssMbs.length;
    }
    ao.close();
    process.stdout.write(`     ${count} ticks: ${standings.map(inWords).join(" -> ")}\n`);
    const grown = (standings.at(-1)?.leastRssMb ?? 0) - (standings[0]?.leastRssMb ?? 0);
    return { product: summarize([grown]), floor: null };
  } finally {
    place.remove();
  }
}

/** What so many ticks leave behind in the process that makes them. */
export function ticksRow(ticks: number): Row {
  const name = `growth over ${ticks} ticks of reconcile`;
  const limitMs = maxMs(ticks) + TAKING_DOWN_MS;
  return { name, floor: "none", atMost: 10, unit: "MB", limitMs, measure: () => grow(ticks) };
}
