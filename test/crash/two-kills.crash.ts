import { expect, test } from "vitest";
import { boundariesOf, crashAndRecover } from "./crash-run.ts";
import { aPlace, CRASH_SCENARIOS } from "./crash-scenarios.ts";
import { inLanes, tell } from "./every-boundary.ts";
import { randomNumbers } from "./random-numbers.ts";

/** A seed starts some thirty real processes; AO_CRASH_FIRST_SEED takes others than the first ones. */
const MOST_SEEDS = 200;
const SEEDS = Math.min(MOST_SEEDS, Number(process.env["AO_CRASH_SEEDS"] ?? MOST_SEEDS));
const FIRST_SEED = Number(process.env["AO_CRASH_FIRST_SEED"] ?? 1);
/** No recovery has more boundaries; the second kill of one that has fewer comes to nothing. */
const MOST_IN_RECOVERY = 12;
/** How often a seed tries to meet a recovery that is long enough. */
const TRIES = 10;

test(`two SIGKILLs in a row, the second inside recovery, leave nothing half done (${SEEDS} seeds)`, async () => {
  const counts = new Map<string, number>();
  for (const scenario of CRASH_SCENARIOS) {
    // Where others left something a cleanup has more of them.
    counts.set(scenario.name, (await boundariesOf(await aPlace(), scenario)).length);
  }
  const seeds = Array.from({ length: SEEDS }, (_, index) => FIRST_SEED + index);
  let [once, twice] = [0, 0];
  await inLanes(seeds, async (where, seed) => {
    const below = randomNumbers(seed);
    for (let tries = 0; tries < TRIES; tries++) {
      const scenario = CRASH_SCENARIOS[below(CRASH_SCENARIOS.length)];
      if (scenario === undefined) throw new Error("no scenario");
      const at = 1 + below(counts.get(scenario.name) ?? 0);
      const again = [1 + below(MOST_IN_RECOVERY)];
      const deaths = await crashAndRecover(where, scenario, { at, again }).catch((error: unknown) => {
        throw new Error(`seed ${seed}`, { cause: error });
      });
      if (deaths.length === 1) once += 1;
      else {
        twice += 1;
        return;
      }
    }
  });
  tell(
    `${SEEDS} seeds, killed a second time inside recovery in ${twice} of them, and ${once} times only once`,
  );
  expect(twice).toBe(SEEDS);
});
