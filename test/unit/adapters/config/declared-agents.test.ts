import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadConfig } from "../../../../src/adapters/config/load-config.ts";
import { ANY_DECLARATION } from "../../../../src/ports/agent-declaration.ts";
import { tempDir } from "../../../support/temp-dir.ts";

async function load(text: string) {
  const directory = tempDir();
  writeFileSync(join(directory, "ao.yaml"), text);
  return loadConfig({
    ...{ explicitPath: undefined, recordedPath: undefined, env: {}, home: undefined, cwd: directory },
    ...{ uid: process.getuid?.(), repositoryOf: async () => undefined },
  });
}

test("a file declares agents, and what it leaves open is that of one that can only be started", async () => {
  const { declaredAgents, warnings } = await load(`
agents:
  mine:
    command: [mine, --quiet]
    prompt: stdin
    modelArgs: [-m, "{model}"]
    permissions: { default: [], bypass: [--yes] }
    screen: { ready: ["^> $"] }
    interrupt: [C-c]
    env: { MINE: "1" }
`);
  expect(warnings).toEqual([]);
  expect(declaredAgents).toEqual([
    {
      ...ANY_DECLARATION,
      ...{ name: "mine", command: ["mine", "--quiet"], prompt: "stdin", modelArgs: ["-m", "{model}"] },
      permissions: { default: [], bypass: ["--yes"] },
      screen: { ready: ["^> $"], busy: [], waiting: [] },
      ...{ interrupt: ["C-c"], env: { MINE: "1" } },
    },
  ]);
});

test.each([
  ["no program", "agents:\n  mine:\n    command: []\n", 3, "must begin with a program"],
  ["none at all", "agents:\n  mine:\n    prompt: file\n", 2, "must be a list of arguments and is missing"],
  [
    "the prompt",
    "agents:\n  mine:\n    command:\n      - mine\n      - '{prompt}'\n",
    5,
    "must not hold the prompt",
  ],
  ["a placeholder nobody fills", "agents:\n  mine:\n    command: [mine, '{x}']\n", 3, "holds {x}"],
  [
    "a pattern that is none",
    "agents:\n  mine:\n    command: [m]\n    screen:\n      ready: ['(']\n",
    5,
    "no regular expression",
  ],
  [
    "a key tmux has not",
    "agents:\n  mine:\n    command: [m]\n    interrupt: [Ctrl C]\n",
    4,
    "as tmux names it",
  ],
  ["an event", "agents:\n  mine:\n    command: [m]\n    hooks: [stop]\n", 4, "must be one of ready"],
  ["a name of ao's own", "agents:\n  codex:\n    command: [m]\n", 2, "brings itself"],
])("%s is refused with its line", async (_what, text, line, message) => {
  const error = await load(text).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: "config_invalid" });
  expect(String(error)).toContain(`ao.yaml:${line}:`);
  expect(String(error)).toContain(message);
});

test("an unknown key of a declaration is a warning that names the nearest", async () => {
  const { warnings } = await load("agents:\n  mine:\n    command: [m]\n    modelArg: [x]\n");
  expect(warnings).toEqual([
    expect.stringContaining("unknown key agents.mine.modelArg, did you mean modelArgs?"),
  ]);
});
