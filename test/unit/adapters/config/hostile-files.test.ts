import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { loadConfig } from "../../../../src/adapters/config/load-config.ts";
import { isAoError } from "../../../../src/domain/errors.ts";
import type { Config } from "../../../../src/ports/config.ts";
import { tempDir } from "../../../support/temp-dir.ts";

/** Writes a configuration file and loads it. */
function load(content: string | Buffer): Promise<Config> {
  const directory = tempDir();
  writeFileSync(join(directory, "ao.yaml"), content);
  return loadIn(directory);
}

function loadIn(cwd: string): Promise<Config> {
  return loadConfig({
    ...{ explicitPath: undefined, recordedPath: undefined, env: {}, home: undefined },
    ...{ cwd, uid: process.getuid?.(), repositoryOf: async () => undefined },
  });
}

const BILLION_LAUGHS = ["a: &a [x, x, x, x, x, x, x, x, x, x]"]
  .concat(
    [..."bcdefgh"].map((name, index) => {
      const before = "abcdefgh"[index];
      return `${name}: &${name} [${Array.from({ length: 10 }, () => `*${before}`).join(", ")}]`;
    }),
  )
  .join("\n");

describe("a configuration file", () => {
  test.each<[string, string, number, string]>([
    ["a key __proto__", "agent: a\n__proto__:\n  agent: b\n", 2, "a key cannot be called __proto__"],
    ["a project __proto__", "projects:\n  __proto__: { path: . }\n", 2, "a key cannot be called __proto__"],
    ["a variable __proto__", "env:\n  A: b\n  __proto__: c\n", 3, "a key cannot be called __proto__"],
    ["a quoted key __proto__", '"__proto__": 1\n', 1, "a key cannot be called __proto__"],
    ["an alias of what is around it", "name: a\nenv: &e\n  A: *e\n", 3, "*e stands within its own anchor"],
    ["a list in itself", "copy: &c\n  - *c\n", 2, "*c stands within its own anchor"],
    ["an alias of nothing", "name: a\nenv: *none\n", 2, "there is no anchor &none before this alias"],
    ["aliases that multiply", BILLION_LAUGHS, 2, "its aliases repeat too much"],
    ["lists in lists without end", `a: ${"[".repeat(20_000)}`, 1, "it is nested too deeply"],
    ["mappings in mappings", `${"{a: ".repeat(5_000)}1${"}".repeat(5_000)}`, 1, "it is nested too deeply"],
    ["a list as a key", "name: a\n? [a, b]\n: c\n", 2, "a key must be text"],
    ["a mapping as a key", "? {a: 1}\n: c\n", 1, "a key must be text"],
    ["a tag of its own", "name: a\nenv: !secret\n  A: b\n", 2, "Unresolved tag: !secret"],
    ["a type beyond text and numbers", "name: a\nenv: !!set {A}\n", 2, "Unresolved tag"],
    ["two documents", "name: a\n---\nname: b\n", 2, "it holds more than one document"],
  ])("with %s is config_invalid at its line", async (_what, text, line, reason) => {
    await expect(load(text)).rejects.toMatchObject({
      code: "config_invalid",
      message: expect.stringContaining(`ao.yaml:${line} is not valid YAML: ${reason}`),
      details: { line },
    });
  });

  test.each(["constructor", "toString", "hasOwnProperty", "valueOf"])(
    "with a key %s has an unknown key like any other",
    async (name) => {
      const { warnings } = await load(`agent: a\n${name}: 1\n`);
      expect(warnings).toEqual([expect.stringMatching(new RegExp(`ao\\.yaml:2: unknown key ${name}$`))]);
    },
  );

  test("may name a project and a variable like what every object has", async () => {
    const config = await load("projects:\n  constructor:\n    path: .\n    env: { toString: x }\n");
    expect(config.projects).toMatchObject([{ id: "constructor" }]);
  });

  test("may repeat a part of itself by an alias", async () => {
    const config = await load(
      "projects:\n  a: { path: /a, env: &e { A: b } }\n  b: { path: /b, sessionPrefix: bb, env: *e }\n",
    );
    expect(config.projects.map(({ id }) => id)).toEqual(["a", "b"]);
  });

  test.each<[string, Buffer, string]>([
    ["is no UTF-8", Buffer.from([0x6e, 0x61, 0x6d, 0x65, 0x3a, 0x20, 0xe9, 0x0a]), "it is not UTF-8 text"],
    ["is longer than 1 MB", Buffer.alloc(1_000_001, 0x23), "it is longer than 1 MB"],
  ])("that %s is refused, not read in part", async (_what, bytes, reason) => {
    await expect(load(bytes)).rejects.toMatchObject({
      code: "config_invalid",
      message: expect.stringContaining(reason),
    });
  });

  test("of rules is read under the same conditions", async () => {
    const directory = tempDir();
    writeFileSync(join(directory, "ao.yaml"), "agentRulesFile: rules\n");
    const rules = async () => (await loadIn(directory)).settingsFor(null, "worker");
    for (const make of [
      () => writeFileSync(join(directory, "rules"), Buffer.from([0xff])),
      () => spawnSync("sh", ["-c", "rm rules && mkfifo rules"], { cwd: directory }),
    ]) {
      make();
      await expect(rules()).rejects.toMatchObject({
        code: "config_invalid",
        message: expect.stringContaining("ao.yaml:1: agentRulesFile cannot be read: it is no"),
      });
    }
  });

  test("of any content is loaded or is config_invalid", async () => {
    const line = fc.tuple(
      fc.constantFrom("", "", "  ", "- "),
      fc.constantFrom("env", "projects", "name", "copy", "constructor", "__proto__", "<<", "? [a]"),
      fc.constantFrom(
        ":",
        ": x",
        ": *a",
        ": &a",
        ": &a x",
        ": !!map",
        ": [1, *a]",
        ": {A: *a}",
        ": ~",
        ": |",
      ),
    );
    const lines = fc
      .array(line, { maxLength: 6 })
      .map((all) => all.map((parts) => parts.join("")).join("\n"));
    const text = fc.oneof(lines, fc.string({ unit: "binary" }));
    await fc.assert(
      fc.asyncProperty(text, async (content) => {
        const outcome = await load(content).then(
          () => true,
          (error: unknown) => isAoError(error, "config_invalid"),
        );
        expect(outcome).toBe(true);
      }),
      { numRuns: 400 },
    );
  });
});
