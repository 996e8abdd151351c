import { test } from "vitest";
import { expectHistories } from "./transcript-writers.ts";

test("two and three writers, with faults between them, do what the model says (200 histories)", async () => {
  await expectHistories(200);
});
