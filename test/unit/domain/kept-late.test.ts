import { expect, test } from "vitest";
import { keptLate } from "../../../src/domain/kept-late.ts";
import { aSettledTurn, aTurnIn } from "../../support/turns.ts";

const END = aSettledTurn();
const at = (lateMs: number) => ({ ref: "r", commit: "c", takenAtMs: END.updatedAtMs + lateMs });

test.each([
  ["at once", at(0), null],
  ["a moment later", at(2_000), null],
  ["by the next look of cron", at(59_000), "59 seconds after its end"],
  ["later than that", at(150_000), "3 minutes after its end"],
  ["hours later", at(3 * 3_600_000), "3 hours after its end"],
  ["by an older ao, which did not say when", { ref: "r", commit: "c" }, null],
  ["never", null, null],
])("the files of a turn that were kept %s are told of so", (_when, end, told) => {
  const turn = aSettledTurn({ checkpoints: { start: null, end } });
  expect(keptLate(turn)).toEqual(told === null ? null : expect.stringContaining(told));
});

test("a turn that goes on has no end to be late for", () => {
  const turn = aTurnIn({ kind: "running" }, { checkpoints: { start: null, end: at(3_600_000) } });
  expect(keptLate(turn)).toBeNull();
});
