import { describe, expect, test } from "vitest";
import { isAtLeast, parseTmuxVersion } from "../../../../src/adapters/tmux/version.ts";

describe("parseTmuxVersion", () => {
  test.each([
    ["tmux 3.2", 3, 2],
    ["tmux 3.3a\n", 3, 3],
    ["3.5a", 3, 5],
    ["tmux next-3.6", 3, 6],
    ["tmux 3.10", 3, 10],
    ["tmux 2.9a", 2, 9],
    ["tmux openbsd-7.4", 3, 2],
    ["tmux openbsd-6.8", 3, 1],
    ["tmux master", Number.POSITIVE_INFINITY, 0],
  ])("%j is read", (output, major, minor) => {
    const text = output.trim().replace("tmux ", "");
    expect(parseTmuxVersion(output)).toEqual({ text, major, minor });
  });

  test.each([[""], ["tmux"], ["screen 4.09"], ["tmux x.y"]])("%j is no version", (output) => {
    expect(parseTmuxVersion(output)).toBeUndefined();
  });
});

test.each([
  ["3.2", true],
  ["3.1c", false],
  ["3.10", true],
  ["4.0", true],
  ["2.9", false],
  ["master", true],
])("%s is 3.2 or later: %s", (text, expected) => {
  const version = parseTmuxVersion(text);
  expect(version !== undefined && isAtLeast(version, 3, 2)).toBe(expected);
});
