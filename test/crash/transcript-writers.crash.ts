import { test } from "vitest";
import { expectHistories } from "./transcript-writers.ts";

const HISTORIES = Number(process.env["AO_CRASH_SEEDS"] ?? 1000);

test(`two and three writers, with faults between them, do what the model says (${HISTORIES} histories)`, async () => {
  await expectHistories(HISTORIES);
});
