import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkpointRef, checkpointsOf, parseCheckpointRef } from "../../../src/domain/checkpoint.ts";
import type { SessionId, TurnId } from "../../../src/domain/ids.ts";

const SESSION = "app-1" as SessionId;

test("the checkpoints of a turn's two ends have refs of their own", () => {
  const turn = "turn-1" as TurnId;
  expect(checkpointRef(SESSION, turn, "end")).toBe("refs/ao/checkpoints/app-1/turn-1");
  expect(checkpointRef(SESSION, turn, "start")).toBe("refs/ao/checkpoints/app-1/turn-1.start");
});

test("a ref names its checkpoint, below those of its session", () => {
  const turn = fc.stringMatching(/^[A-Za-z0-9-]{1,64}$/).map((text) => text as TurnId);
  fc.assert(
    fc.property(turn, fc.constantFrom("start" as const, "end" as const), (turnId, edge) => {
      const ref = checkpointRef(SESSION, turnId, edge);
      expect(parseCheckpointRef(ref)).toEqual({ sessionId: SESSION, turnId, edge });
      expect(ref.startsWith(checkpointsOf(SESSION))).toBe(true);
    }),
  );
});

describe("no checkpoint is named by", () => {
  test.each([
    "",
    "refs/ao/checkpoints/app-1",
    "refs/ao/checkpoints/app-1/",
    "refs/ao/checkpoints/app-1/turn_1",
    "refs/ao/checkpoints/app-1/.start",
    "refs/ao/checkpoints/app-1/turn/1",
    "refs/ao/checkpoints/app/turn",
    "refs/ao/salvage/app-1/1",
    "turn-1",
  ])("%j", (ref) => {
    expect(parseCheckpointRef(ref)).toBeUndefined();
  });
});
