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
const MAX_MS = 120_000;

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
    const endMs = performance.now() + MAX_MS;
    let before = standing();
    let count = 0;
    for (; count < ticks + WARM_UP && performance.now() < endMs; count += 1) {
      if (count === WARM_UP) before = standing();
      const { errors } = await reconcile(ao.deps);
      if (errors.length > 0) throw new Error(JSON.stringify(errors));
    }
    ao.close();
    const after = standing();
    process.stdout.write(`     ${count - WARM_UP} ticks: ${inWords(before)} -> ${inWords(after)}\n`);
    return { product: summarize([after.rssMb - before.rssMb]), floor: null };
  } finally {
    place.remove();
  }
}

/** What so many ticks leave behind in the process that makes them. */
export function ticksRow(ticks: number): Row {
  const name = `growth over ${ticks} ticks of reconcile`;
  return { name, floor: "none", atMost: 10, unit: "MB", limitMs: 150_000, measure: () => grow(ticks) };
}
