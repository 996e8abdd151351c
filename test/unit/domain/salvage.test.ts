import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { SessionId } from "../../../src/domain/ids.ts";
import { nextSalvageNumber, parseSalvageRef, salvageRef } from "../../../src/domain/salvage.ts";

describe("a salvage is named by", () => {
  test.each([
    ["refs/ao/salvage/app-1/2", "app-1", 2],
    ["app-1/2", "app-1", 2],
    ["my-app-12/345", "my-app-12", 345],
  ])("%s", (text, sessionId, number) => {
    expect(parseSalvageRef(text)).toEqual({
      ref: `refs/ao/salvage/${sessionId}/${number}`,
      sessionId,
      number,
    });
  });
});

describe("no salvage is named by", () => {
  test.each([
    "",
    "app-1",
    "app-1/",
    "app-1/0",
    "app-1/02",
    "app-1/x",
    "app-1/1/2",
    "app/1",
    "../app-1/1",
    "refs/heads/app-1/1",
    "refs/ao/checkpoints/app-1/1",
    "app-1/1\n",
  ])("%j", (text) => {
    expect(parseSalvageRef(text)).toBeUndefined();
  });
});

test("the next number is after all that are taken", () => {
  expect(nextSalvageNumber([])).toBe(1);
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 1_000 }), { minLength: 1 }), (taken) => {
      const next = nextSalvageNumber(taken);
      expect(taken.every((number) => number < next)).toBe(true);
      expect(taken).toContain(next - 1);
    }),
  );
});

test("a ref names its salvage", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 999_999_999 }), (number) => {
      const sessionId = "app-1" as SessionId;
      expect(parseSalvageRef(salvageRef(sessionId, number))).toMatchObject({ sessionId, number });
    }),
  );
});
