import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseLaunchId, parseProjectId, parseSessionId } from "../../../src/domain/ids.ts";
import { anyText } from "./arbitraries.ts";

const NO_ID_AT_ALL = [
  "",
  " ",
  "-rf",
  "_x",
  "../..",
  "a.b-1",
  "a:b-1",
  "a/b-1",
  "a b-1",
  "#(touch x)",
  "$(touch x)",
  "app-1\n",
  "app\0-1",
  "äpp-1",
  "🚀",
];

describe("parseSessionId", () => {
  test.each(["app-1", "a-1", "My_App-2-12", "42-7", `${"x".repeat(53)}-999999999`])("accepts %s", (text) => {
    expect(parseSessionId(text)).toBe(text);
  });

  test.each([
    ...NO_ID_AT_ALL,
    "app",
    "app-",
    "app-0",
    "app-01",
    "app--",
    "-1",
    "app-1x",
    "app-1234567890",
    `${"x".repeat(54)}-1`,
  ])("refuses %j", (text) => {
    expect(parseSessionId(text)).toBeUndefined();
  });
});

describe("parseProjectId", () => {
  test.each(["app", "a", "My_App-2", "42", "x".repeat(63)])("accepts %s", (text) => {
    expect(parseProjectId(text)).toBe(text);
  });

  test.each([...NO_ID_AT_ALL, "x".repeat(64)])("refuses %j", (text) => {
    expect(parseProjectId(text)).toBeUndefined();
  });
});

describe("parseLaunchId", () => {
  test.each(["launch-1", "0190a5c0-0000-7000-8000-000000000000", "x".repeat(64)])("accepts %s", (text) => {
    expect(parseLaunchId(text)).toBe(text);
  });

  test.each(["", "a_b", "a b", "a\n", "../x", "x".repeat(65)])("refuses %j", (text) => {
    expect(parseLaunchId(text)).toBeUndefined();
  });
});

describe("every id", () => {
  test("is refused when it is ten megabytes long", () => {
    const long = "x".repeat(10_000_000);
    expect([parseSessionId(`${long}-1`), parseProjectId(long), parseLaunchId(long)]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  test("holds only what is safe in a path, a tmux target and a git ref", () => {
    fc.assert(
      fc.property(fc.oneof(anyText, fc.stringMatching(/^[\w-]{1,9}-\d{1,3}$/)), (text) => {
        for (const parse of [parseSessionId, parseProjectId, parseLaunchId]) {
          const id = parse(text);
          if (id !== undefined) expect(id).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
        }
      }),
    );
  });
});
