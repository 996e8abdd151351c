import { expect, test } from "vitest";
import { toTurnJson } from "../../../src/domain/turn-json.ts";
import { aTurnIn } from "../../support/turns.ts";

test("a turn for readers outside names its checkpoints by ref and commit alone", () => {
  const kept = { ref: "refs/ao/checkpoints/app-1/t", commit: "c0ffee" };
  const turn = {
    ...aTurnIn({ kind: "running" }),
    checkpoints: { start: { ...kept, takenAtMs: 1 }, end: null },
  };
  expect(toTurnJson(turn)).toMatchObject({ checkpoint: null });
  expect(toTurnJson(turn).startCheckpoint).toEqual(kept);
});
