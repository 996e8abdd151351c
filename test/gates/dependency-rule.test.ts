import { describe, expect, test } from "vitest";
import { type CheckResult, minimalTree, type Plants, runCheck } from "./minimal-tree.ts";

const IMPORTS_MEMORY =
  'import { memoryPrinter } from "../adapters/memory/memory-printer.ts";\nmemoryPrinter();\n';

/** One violation a row: the rule, the file, what it imports as the report shows it, the file's text. */
const VIOLATIONS = [
  [
    "core-is-pure",
    "src/domain/reads.ts",
    "fs",
    'import { readFileSync } from "node:fs";\nreadFileSync("x");\n',
  ],
  ["core-is-pure", "src/lifecycle/parses.ts", "zod", 'import { z } from "zod";\nz.string();\n'],
  [
    "domain-imports-only-itself",
    "src/domain/prints.ts",
    "src/ports/printer.ts",
    'import type { Printer } from "../ports/printer.ts";\nexport type Prints = Printer["print"];\n',
  ],
  [
    "ports-imports-only-domain",
    "src/ports/greets.ts",
    "src/lifecycle/greet.ts",
    'import type { greet } from "../lifecycle/greet.ts";\nexport type Greets = typeof greet;\n',
  ],
  [
    "lifecycle-imports-only-domain-and-ports",
    "src/lifecycle/wires.ts",
    "src/adapters/memory/memory-printer.ts",
    IMPORTS_MEMORY,
  ],
  [
    "adapters-are-strangers",
    "src/adapters/disk/borrows.ts",
    "src/adapters/memory/memory-printer.ts",
    IMPORTS_MEMORY.replace("../adapters/", "../"),
  ],
  [
    "only-compose-imports-adapters",
    "cmd/wires.ts",
    "src/adapters/memory/memory-printer.ts",
    IMPORTS_MEMORY.replace("../", "../src/"),
  ],
  [
    "only-compose-imports-its-parts",
    "cmd/parts.ts",
    "src/compose/part.ts",
    'import "../src/compose/part.ts";\n',
  ],
  ["nothing-imports-the-command-line", "src/compose-more.ts", "cmd/main.ts", 'import "../cmd/main.ts";\n'],
  [
    "only-compose-and-index-lie-above-the-layers",
    "src/helps.ts",
    "src/domain/greeting.ts",
    'import { greeting } from "./domain/greeting.ts";\ngreeting("world");\n',
  ],
  [
    "only-compose-and-index-are-imported-from-above-the-layers",
    "cmd/helped.ts",
    "src/helps.ts",
    'import "../src/helps.ts";\n',
  ],
  ["no-cycles", "src/domain/circle-a.ts", "src/domain/circle-b.ts", 'import "./circle-b.ts";\n'],
  ["not-to-unresolvable", "src/domain/lost.ts", "./nowhere.ts", 'import "./nowhere.ts";\n'],
] as const;

const PLANTS: Plants = {
  ...Object.fromEntries(VIOLATIONS.map(([, file, , text]) => [file, text])),
  "src/compose/part.ts": IMPORTS_MEMORY,
  "src/domain/circle-b.ts": 'import "./circle-a.ts";\n',
};

let planted: Promise<CheckResult> | undefined;

/** The check of a tree with all of them, run once; its report names each one on a line of its own. */
function checkPlanted(): Promise<CheckResult> {
  planted ??= runCheck("deps", minimalTree(PLANTS));
  return planted;
}

describe("the dependency rule", () => {
  test("a tree that keeps it passes", async () => {
    const { exitCode, output } = await runCheck("deps", minimalTree());
    expect(output).toContain("no dependency violations found");
    expect(exitCode).toBe(0);
  });

  test.each(VIOLATIONS)("%s: %s may not import %s", async (rule, file, imported) => {
    const { exitCode, output } = await checkPlanted();
    const lines = output.replace(/→\s+/g, "→ ").split("\n");
    const errors = lines.filter((line) => line.startsWith(`  error ${rule}: ${file} → `));
    expect(errors.join("\n")).toContain(imported);
    expect(exitCode).toBeGreaterThanOrEqual(VIOLATIONS.length);
  });
});
