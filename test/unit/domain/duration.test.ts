import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseDuration } from "../../../src/domain/duration.ts";

describe("parseDuration", () => {
  test.each([
    ["500ms", 500],
    ["90s", 90_000],
    ["90", 90_000],
    ["30m", 1_800_000],
    ["12h", 43_200_000],
    ["2d", 172_800_000],
    ["1w", 604_800_000],
    ["0", 0],
    ["0s", 0],
    ["1.5h", 5_400_000],
    ["0.5", 500],
    ["1.5ms", 2],
  ])("%s is %d ms", (text, durationMs) => {
    expect(parseDuration(text)).toBe(durationMs);
  });

  test.each([
    "",
    " ",
    "s",
    "-1s",
    "+1s",
    "1 h",
    "1h30m",
    "1y",
    "1H",
    "1e3",
    "0x10",
    ".5s",
    "1.",
    "Infinity",
    "NaN",
    "٣s",
    "1s\n",
    "9999999999999999w",
    "constructor",
    "1constructor",
  ])("%j is no duration", (text) => {
    expect(parseDuration(text)).toBeUndefined();
  });

  test("ten megabytes of digits are no duration", () => {
    expect(parseDuration("1".repeat(10_000_000))).toBeUndefined();
  });

  test("a whole number of any unit is that many of its milliseconds", () => {
    const aUnit = fc.constantFrom(
      ["ms", 1],
      ["s", 1_000],
      ["m", 60_000],
      ["h", 3_600_000],
      ["d", 86_400_000],
      ["w", 604_800_000],
    ) as fc.Arbitrary<[string, number]>;
    fc.assert(
      fc.property(fc.nat(1_000_000), aUnit, (amount, [unit, unitMs]) => {
        expect(parseDuration(`${amount}${unit}`)).toBe(amount * unitMs);
      }),
    );
  });

  test("any text is a duration of whole milliseconds or none", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const durationMs = parseDuration(text);
        expect(durationMs === undefined || (Number.isSafeInteger(durationMs) && durationMs >= 0)).toBe(true);
      }),
    );
  });
});
