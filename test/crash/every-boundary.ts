import { boundariesOf, crashAndRecover } from "./crash-run.ts";
import { aPlace, type CrashScenario, type Place } from "./crash-scenarios.ts";

/** As many at once as the smallest machine has processors. */
const LANES = 2;

/** A line for whoever watches the run. */
export function tell(text: string): void {
  process.stdout.write(`  ${text}\n`);
}

/** Divides work among as many lanes as run at once, each in a place of its own; all have ended when it does. */
export async function inLanes<Item>(
  items: readonly Item[],
  work: (place: Place, item: Item) => Promise<unknown>,
  first?: Place,
): Promise<void> {
  const lanes = Array.from({ length: LANES }, (_, lane) => items.filter((_item, i) => i % LANES === lane));
  const runs = lanes.map(async (lane, index) => {
    if (lane.length === 0) return;
    const place = index === 0 && first !== undefined ? first : await aPlace();
    for (const item of lane) await work(place, item);
  });
  const failed = (await Promise.allSettled(runs)).find(({ status }) => status === "rejected");
  if (failed?.status === "rejected") throw failed.reason;
}

/**
 * Kills a command at each of its boundaries, or at every `step`-th beginning with the `first`, at one at least, and
 * sees one reconcile set it right. Returns how many those were; a command that crosses none fails.
 */
export async function sweep(
  scenario: CrashScenario,
  { first = 1, step = 1 }: { readonly first?: number; readonly step?: number } = {},
): Promise<number> {
  const place = await aPlace();
  const boundaries = await boundariesOf(place, scenario);
  if (boundaries.length === 0) throw new Error(`${scenario.name} crosses no boundary`);
  const every = Math.min(step, boundaries.length);
  const numbers = boundaries
    .map((_, index) => index + 1)
    .filter((number) => number % every === first % every);
  await inLanes(numbers, (where, at) => crashAndRecover(where, scenario, { at }), place);
  tell(`${scenario.name}: killed at ${numbers.length} of ${boundaries.length} boundaries`);
  return numbers.length;
}
