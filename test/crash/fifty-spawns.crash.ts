import { expect, test } from "vitest";
import { aoSandbox } from "../support/ao.ts";
import { expectSound } from "../support/crash-traces.ts";
import { SHELL } from "./crash-scenarios.ts";
import { tell } from "./every-boundary.ts";

const COUNT = 50;

/** Spawns in a repository of their own, and how long that took in milliseconds. */
async function timed(spawnAll: (spawn: () => Promise<string>) => Promise<unknown>): Promise<number> {
  const ao = aoSandbox();
  const cwd = ao.repository();
  const startedMs = performance.now();
  await spawnAll(() => ao.spawn(cwd, SHELL));
  const tookMs = performance.now() - startedMs;
  const { sessions } = expectSound(ao, cwd);
  expect(sessions).toHaveLength(COUNT);
  return tookMs;
}

test(`${COUNT} spawns at once on one repository all succeed, in no more time than ${COUNT} in a row`, async () => {
  const inARowMs = await timed(async (spawn) => {
    for (let count = 0; count < COUNT; count++) await spawn();
  });
  const atOnceMs = await timed((spawn) => Promise.all(Array.from({ length: COUNT }, spawn)));
  const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
  tell(`${COUNT} spawns: ${seconds(inARowMs)} in a row, ${seconds(atOnceMs)} at once`);
  expect(atOnceMs).toBeLessThanOrEqual(inARowMs);
});
