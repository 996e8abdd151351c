import { describe, expect, test } from "vitest";
import { memoryCli } from "../../support/memory-cli.ts";
import { aWorld } from "../../support/world.ts";

describe("text that was not valid UTF-8", () => {
  test.each<[string, readonly string[], Readonly<Record<string, string>>]>([
    ["a title", ["spawn", "--title", "caf\ufffd"], {}],
    ["a prompt", ["spawn", "--prompt", "\ufffd\ufffd"], {}],
    ["an argument of the agent", ["spawn", "--", "\ufffd"], {}],
    ["an issue", ["batch-spawn", "1", "\ufffd"], {}],
    ["a session", ["show", "app-\ufffd"], {}],
    ["the data directory", ["list"], { AO_DATA_DIR: "/data\ufffd" }],
    ["the own session", ["show", "@"], { AO_SESSION_ID: "app-1\ufffd" }],
  ])("as %s is refused before anything is done", async (_what, argv, env) => {
    const world = aWorld();
    const { exitCode, stdout, stderr } = await memoryCli(world, argv, { env });
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toContain("not valid UTF-8");
    expect(world.log).toEqual([]);
  });

  test("is named by its place or its variable", async () => {
    const { stderr } = await memoryCli(aWorld(), ["spawn", "--title", "caf\ufffd"]);
    expect(stderr).toContain("argument 3 (caf\ufffd) is not valid UTF-8");
    const env = { AO_PROJECT_ID: "\ufffd" };
    expect((await memoryCli(aWorld(), ["spawn"], { env })).stderr).toContain("AO_PROJECT_ID is not valid");
  });

  test("is nobody's matter in a variable that ao does not read", async () => {
    const env = { OTHER: "\ufffd" };
    expect((await memoryCli(aWorld(), ["list"], { env })).exitCode).toBe(0);
  });

  test("goes through a file as it is written there: the mark itself is a letter like any other", async () => {
    const world = aWorld();
    await memoryCli(world, ["spawn", "--prompt-file", "-"], { stdin: "a \ufffd b" });
    expect(world.deps.store.list().map(({ id }) => world.deps.store.promptOf(id))).toEqual(["a \ufffd b"]);
  });
});
