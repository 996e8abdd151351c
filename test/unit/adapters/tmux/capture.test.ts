import { expect, test } from "vitest";
import { lastLines } from "../../../../src/adapters/tmux/capture.ts";

test.each<[string, string, number, readonly string[]]>([
  ["an empty screen has no lines", "\n\n\n", 5, []],
  ["blank lines at the end are dropped", "one\ntwo\n\n  \n", 5, ["one", "two"]],
  ["blank lines between stay", "one\n\ntwo\n", 5, ["one", "", "two"]],
  ["padding is dropped, indentation stays", "  one   \ntwo  \n", 5, ["  one", "two"]],
  ["only the last ones are given", "one\ntwo\nthree\n", 2, ["two", "three"]],
])("%s", (_name, screen, count, lines) => {
  expect(lastLines(screen, count)).toEqual(lines);
});
