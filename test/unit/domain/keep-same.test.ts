import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { keepSame } from "../../../src/domain/keep-same.ts";

describe("keepSame", () => {
  test.each<[string, unknown, unknown]>([
    ["another order of keys", { a: 1, b: 2 }, { b: 2, a: 1 }],
    ["equal records in depth", { a: { b: [1, null] } }, { a: { b: [1, null] } }],
    ["NaN", { a: Number.NaN }, { a: Number.NaN }],
  ])("%s is the same: the first one comes back", (_what, current, next) => {
    expect(keepSame(current, next)).toBe(current);
  });

  test.each<[string, unknown, unknown]>([
    ["another value", { a: 1 }, { a: 2 }],
    ["another value in depth", { a: { b: 1 } }, { a: { b: 2 } }],
    ["one key more", { a: 1 }, { a: 1, b: undefined }],
    ["one key less", { a: 1, b: undefined }, { a: 1 }],
    ["another key", { a: undefined }, { b: undefined }],
    ["null for a record", { a: {} }, { a: null }],
    ["a record for null", { a: null }, { a: {} }],
    ["a longer list", [1], [1, 2]],
  ])("%s is another: the second one comes back", (_what, current, next) => {
    expect(keepSame(current, next)).toBe(next);
  });

  test("a copy of anything is the same", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(keepSame(value, structuredClone(value))).toBe(value);
      }),
    );
  });
});
