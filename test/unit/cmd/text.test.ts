import fc from "fast-check";
import stringWidth from "string-width";
import { describe, expect, test } from "vitest";
import { age } from "../../../cmd/age.ts";
import { counted } from "../../../cmd/counted.ts";
import { newLines } from "../../../cmd/new-lines.ts";
import { table } from "../../../cmd/table.ts";

test.each([
  [0, "file", "0 files"],
  [1, "file", "1 file"],
  [2, "session", "2 sessions"],
  [3, "stash", "3 stashes"],
])("%i %s is %s", (count, noun, text) => {
  expect(counted(count, noun)).toBe(text);
});

describe("age", () => {
  test.each([
    [0, "0s"],
    [59_999, "59s"],
    [60_000, "1m"],
    [3_600_000, "1h"],
    [86_400_000, "1d"],
    [7 * 86_400_000, "1w"],
    [-5_000, "0s"],
  ])("%i ms ago is %s", (passedMs, text) => {
    expect(age(1_000_000_000, 1_000_000_000 + passedMs)).toBe(text);
  });

  test("no moment is a dash", () => {
    expect(age(null, 0)).toBe("-");
  });
});

describe("newLines", () => {
  test.each<[string, string[], string[], string[]]>([
    ["the first look is new as a whole", [], ["a", "b"], ["a", "b"]],
    ["nothing new is nothing", ["a", "b"], ["a", "b"], []],
    ["what was appended is new", ["a", "b"], ["a", "b", "c"], ["c"]],
    ["lines that scrolled away are no news", ["a", "b", "c"], ["b", "c", "d"], ["d"]],
    ["a last line that grew is printed again", ["a", "wor"], ["a", "working", "ok"], ["working", "ok"]],
    ["a screen drawn anew is printed from the first line that differs", ["a", "b", "c"], ["a", "x"], ["x"]],
  ])("%s", (_title, before, after, expected) => {
    expect(newLines(before, after)).toEqual(expected);
  });

  test("any growing log is printed whole and once, however the window moves", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(3), { minLength: 1, maxLength: 12 }), (steps) => {
        const all: string[] = [];
        const printed: string[] = [];
        let before: readonly string[] = [];
        for (const step of steps) {
          for (let i = 0; i < step; i++) all.push(`line ${all.length}`);
          const after = all.slice(-8);
          printed.push(...newLines(before, after));
          before = after;
        }
        expect(printed).toEqual(all);
      }),
    );
  });
});

describe("table", () => {
  const paint = (_color: string, text: string) => text;

  test("columns start at the same place whatever the letters", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom("a", "漢字", "\u{1f680}\u{1f680}", "", "longer"), { maxLength: 6 }),
        async (names) => {
          const lines = await table({
            header: ["NAME", "X"],
            rows: names.map((name) => [name, "|"]),
            paint,
            width: undefined,
          });
          const starts = lines.slice(1).map((line) => stringWidth(line.slice(0, line.indexOf("|"))));
          expect(new Set(starts).size).toBeLessThanOrEqual(1);
        },
      ),
    );
  });

  test("the last column is cut to the terminal's width", async () => {
    const [, row = ""] = await table({
      header: ["ID", "TITLE"],
      rows: [["a", "x".repeat(100)]],
      paint,
      width: 30,
    });
    expect(stringWidth(row)).toBe(30);
    expect(row.endsWith("…")).toBe(true);
  });

  const HEADER = ["ID", "STATUS", "PROJECT", "AGENT", "BRANCH", "SEEN", "TITLE"];
  const LONG = ["shop-123", "needs_input", "storefront", "claude-code"];
  const BRANCH = "feat/4711-let-the-login-page-remember-where-it-came-from";

  test("a long branch is cut beside a long title: each line fits into 80 columns", async () => {
    const rows = [[...LONG, BRANCH, "12m", "Let the login page remember where it came from"]];
    const lines = await table({ header: HEADER, rows, paint, width: 80 });
    for (const line of lines) expect(stringWidth(line)).toBeLessThanOrEqual(80);
    expect(lines[1]).toMatch(
      /^shop-123 {2}needs_input {2}storefront {2}claude-code {2}feat\/4711-l\S*… {2}12m {3}/,
    );
    expect(lines[1]).toMatch(/Let the log\S*…$/);
  });

  test("what fits is not cut, and an id never is", async () => {
    const rows = [["a-very-long-prefix-of-session-ids-1", "idle", "x".repeat(30)]];
    const [, cut] = await table({ header: ["ID", "STATUS", "TITLE"], rows, paint, width: 40 });
    expect(cut).toBe(`a-very-long-prefix-of-session-ids-1  idle    ${"x".repeat(11)}…`);
    const [, whole] = await table({ header: ["ID", "STATUS", "TITLE"], rows, paint, width: 75 });
    expect(whole).toContain("x".repeat(30));
  });

  test("any rows fit as far as the least of each column allows, wide letters included", async () => {
    const cell = fc.string({ unit: fc.constantFrom("a", "漢", "\u{1f680}", "e\u0301", " "), maxLength: 60 });
    const rowsOf = fc.array(fc.tuple(fc.constantFrom("a-1", "app-12"), cell, cell), { maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(rowsOf, fc.integer({ min: 36, max: 120 }), async (rows, width) => {
        for (const line of await table({ header: ["ID", "BRANCH", "TITLE"], rows, paint, width })) {
          expect(stringWidth(line)).toBeLessThanOrEqual(width);
        }
      }),
    );
  });
});
