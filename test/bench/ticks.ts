import { readdirSync } from "node:fs";
import { performance } from "node:perf_hooks";
import { openAo } from "../../src/compose.ts";
import { reconcile } from "../../src/lifecycle/recovery/reconcile.ts";
import { crowd } from "./crowd.ts";
import { summarize } from "./measure.ts";
import { aPlace } from "./place.ts";
import type { Measured, Row } from "./rows.ts";

const LIVE = 10;
/** Until compiled code and caches are what they stay. */
const WARM_UP = 200;
/** What so many ticks may take: a slow machine makes as many as it can by then. */
const maxMs = (ticks: number) => Math.max(120_000, 45 * ticks);
const TAKING_DOWN_MS = 30_000;
/** How often on the way what stands is told. */
const PARTS = 4;

interface Standing {
  readonly rssMb: number;
  readonly descriptors: number;
}

function standing(): Standing {
  const rssMb = process.memoryUsage().rss / 1024 ** 2;
  return { rssMb, descriptors: readdirSync("/proc/self/fd").length };
}

const inWords = ({ rssMb, descriptors }: Standing) => `${rssMb.toFixed(1)} MB, ${descriptors} descriptors`;

/** The ticks of `ao reconcile --interval` without their pauses, in this process; in MB what it has grown by. */
async function grow(ticks: number): Promise<Measured> {
  const place = aPlace();
  try {
    await crowd(place, { total: 10 * LIVE, live: LIVE });
    const ao = await openAo({ env: place.env, cwd: place.root, access: "create" });
    const endMs = performance.now() + maxMs(ticks);
    const standings: Standing[] = [];
    let count = -WARM_UP;
    for (; count < ticks && performance.now() < endMs; count += 1) {
      if (count >= 0 && count % Math.ceil(ticks / PARTS) === 0) standings.push(standing());
      const { errors } = await reconcile(ao.deps);
      if (errors.length > 0) throw new Error(JSON.stringify(errors));
    }
    ao.close();
    const after = standing();
    const [before = after] = standings;
    process.stdout.write(`     ${count} ticks: ${[...standings, after].map(inWords).join(" -> ")}\n`);
    return { product: summarize([after.rssMb - before.rssMb]), floor: null };
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
