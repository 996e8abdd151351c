import { describe, expect, test } from "vitest";
import { ciScript, minimalTree, runCheck } from "./minimal-tree.ts";

const FLOATING = `import type { Printer } from "../ports/printer.ts";

export function careless(printer: Printer): void {
  printer.print("nobody waits for this");
}
`;
const MISUSED = `import type { Printer } from "../ports/printer.ts";

export function careless(printer: Printer, texts: string[]): void {
  texts.forEach(async (text) => {
    await printer.print(text);
  });
}
`;
const MISSING_CASE = `export function size(word: "small" | "large"): number {
  switch (word) {
    case "small":
      return 1;
  }
  return 2;
}
`;
const COMPLEX = `export function tangle(a: number, b: number): number {
  for (let i = 0; i < a; i += 1) {
    if (i === b) {
      if (a > b) {
        while (a > 1) {
          if (b > 2) return i;
        }
      }
    }
  }
  return 0;
}
`;
const LONG = `export function long(add: (value: number) => void): void {\n${"  add(1);\n".repeat(60)}}\n`;

describe("the linter", () => {
  test("a clean tree passes", async () => {
    const { exitCode, output } = await runCheck("lint", minimalTree());
    expect(output).toContain("No fixes applied");
    expect(exitCode).toBe(0);
  });

  test.each([
    ["a floating promise", "lint/nursery/noFloatingPromises", "src/lifecycle/careless.ts", FLOATING],
    [
      "an async function given to forEach",
      "lint/nursery/noMisusedPromises",
      "src/lifecycle/careless.ts",
      MISUSED,
    ],
    ["a missing case", "lint/nursery/useExhaustiveSwitchCases", "src/domain/size.ts", MISSING_CASE],
    ["a class", "AoError is the one class of this project", "src/domain/thing.ts", "export class Thing {}\n"],
    ["an enum", "lint/style/noEnum", "src/domain/kind.ts", 'export enum Kind {\n  One = "one",\n}\n'],
    [
      "an any",
      "lint/suspicious/noExplicitAny",
      "src/domain/loose.ts",
      "export const loose = (x: any): string => x;\n",
    ],
    ["a default export", "lint/style/noDefaultExport", "src/domain/main.ts", "export default 1;\n"],
    ["a tangled function", "noExcessiveCognitiveComplexity", "src/domain/tangle.ts", COMPLEX],
    ["a long function", "noExcessiveLinesPerFunction", "src/domain/long.ts", LONG],
    ["an unformatted file", "format", "src/domain/wide.ts", "export const wide = {a:1};\n"],
  ])("%s is an error", async (_what, rule, file, text) => {
    const { exitCode, output } = await runCheck("lint", minimalTree({ [file]: text }));
    expect(output).toContain(rule);
    expect(output).toContain(file);
    expect(output).toContain("Found 1 error");
    expect(exitCode).toBe(1);
  });
});

describe("the continuous integration", () => {
  test.each(["lint", "deps", "dead", "types"])("runs the check %s", (script) => {
    expect(ciScript()).toContain(`\nnpm run --silent ${script}\n`);
  });

  test("runs the tests, and ends at the first failure", () => {
    expect(ciScript()).toMatch(/\nnpm test\n$/);
    expect(ciScript()).toContain("\nset -euo pipefail\n");
  });
});
