import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalJson, isSameJson, type JsonValue } from "../../../src/domain/canonical-json.ts";

const anyJson = fc.jsonValue({ depthSize: "medium" }) as fc.Arbitrary<JsonValue>;

/** The same value with the members of every object in the opposite order. */
function reordered(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(reordered);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [name, reordered(member)] as const);
  return Object.fromEntries(members.toReversed());
}

describe("canonicalJson", () => {
  test.each<[string, JsonValue, string]>([
    ["members are sorted, in depth", { b: 1, a: { d: [], c: null } }, '{"a":{"c":null,"d":[]},"b":1}'],
    ["names that look like numbers are sorted as text", { 10: 1, 9: 2 }, '{"10":1,"9":2}'],
    [
      "names are sorted by UTF-16 units",
      { "\uff61": 1, "\u{1f600}": 2, é: 3 },
      '{"é":3,"\u{1f600}":2,"\uff61":1}',
    ],
    ["items keep their order", [2, 1, [0]], "[2,1,[0]]"],
    ["numbers are written as JavaScript does", [1e30, 0.1, -0, 1e-7], "[1e+30,0.1,0,1e-7]"],
    ["control characters are escaped", "\u0000\n\u20ac", '"\\u0000\\n€"'],
    ["half a surrogate pair is escaped", "\ud800", '"\\ud800"'],
    ["an own member called __proto__ counts", JSON.parse('{"__proto__":1}'), '{"__proto__":1}'],
    ["nothing is the empty object", {}, "{}"],
  ])("%s", (_fact, value, expected) => {
    expect(canonicalJson(value)).toBe(expected);
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])("%s is refused", (value) => {
    expect(() => canonicalJson({ a: [value] })).toThrow(expect.objectContaining({ code: "internal" }));
  });

  test("it is JSON of the same value", () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  test("it is the same for any order of members", () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        expect(canonicalJson(reordered(value))).toBe(canonicalJson(value));
      }),
    );
  });
});

describe("isSameJson", () => {
  test("says whether what is read back from JSON would be equal", () => {
    fc.assert(
      fc.property(anyJson, anyJson, (left, right) => {
        const sorted = (value: JsonValue) => JSON.stringify(JSON.parse(canonicalJson(value)));
        expect(isSameJson(left, right)).toBe(sorted(left) === sorted(right));
        expect(isSameJson(left, JSON.parse(JSON.stringify(left)))).toBe(true);
      }),
    );
  });

  test.each<[JsonValue, JsonValue]>([
    [1, "1"],
    [null, false],
    [{ a: null }, {}],
    [
      [1, 2],
      [2, 1],
    ],
    [[], {}],
    ["é", "e\u0301"],
  ])("%j and %j differ", (left, right) => {
    expect(isSameJson(left, right)).toBe(false);
  });
});
