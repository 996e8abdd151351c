import { describe, expect, test } from "vitest";
import { minimalTree, runCheck } from "./minimal-tree.ts";

const UNUSED = `/** Says hello. */
export function greeting(name: string): string {
  return \`hello \${name}\`;
}

export function farewell(name: string): string {
  return \`bye \${name}\`;
}
`;

describe("the search for dead code", () => {
  test("a tree where everything is used passes", async () => {
    const { exitCode, output } = await runCheck("dead", minimalTree());
    expect({ exitCode, output }).toMatchObject({ exitCode: 0 });
  });

  test.each([
    ["an unused export", "Unused exports", "farewell", { "src/domain/greeting.ts": UNUSED }],
    [
      "a file that nobody imports",
      "Unused files",
      "src/domain/idle.ts",
      { "src/domain/idle.ts": "export {};\n" },
    ],
    [
      "a package that is not declared",
      "Unlisted dependencies",
      "zod",
      { "cmd/main.ts": 'import "../src/compose.ts";\nimport "../src/lifecycle/greet.ts";\nimport "zod";\n' },
    ],
  ])("%s is an error", async (_what, heading, name, plants) => {
    const { exitCode, output } = await runCheck("dead", minimalTree(plants));
    expect(output).toContain(heading);
    expect(output).toContain(name);
    expect(exitCode).toBe(1);
  });
});
