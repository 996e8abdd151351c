import { describe, expect, test } from "vitest";
import { memoryCli } from "../../support/memory-cli.ts";
import { aWorld } from "../../support/world.ts";

async function candidates(...words: string[]): Promise<readonly string[]> {
  const world = aWorld();
  await world.spawn();
  const { id } = await world.spawn({ issueId: "43" });
  await world.kill(id);
  const { stdout } = await memoryCli(world, ["__complete", "--", ...words]);
  return stdout.split("\n").flatMap((line) => (line === "" ? [] : [line.split("\t")[0] ?? ""]));
}

describe("completion", () => {
  test("of the first word are the commands, the hidden one left out", async () => {
    const names = await candidates("");
    expect(names).toEqual(expect.arrayContaining(["spawn", "kill", "session", "completion"]));
    expect(names).not.toContain("__complete");
  });

  test.each([
    ["a live session", ["kill", ""], ["app-1"]],
    ["none that is named already", ["kill", "app-1", ""], []],
    ["none that is named already with its project", ["kill", "--wait", "app:app-1", ""], []],
    ["another one of several", ["kill", "app-7", ""], ["app-1"]],
    ["one that only a note names", ["kill", "--note", "app-1", ""], ["app-1"]],
    ["a session that is over, for restore", ["restore", ""], ["app-2"]],
    ["any session, for show", ["show", ""], ["app-1", "app-2"]],
    ["a session under the older spelling", ["session", "attach", ""], ["app-1"]],
    ["a project", ["list", "-p", ""], ["app"]],
    ["a project as an argument", ["project", "show", ""], ["app"]],
    ["an agent", ["spawn", "--agent", ""], ["memory"]],
    ["a choice of a flag", ["kill", "--reason", ""], ["manual", "cleanup", "error"]],
    ["a choice of an argument", ["completion", ""], ["bash", "zsh", "fish"]],
    ["nothing where any text may stand", ["spawn", "--title", ""], []],
    ["nothing after --", ["spawn", "--", ""], []],
    ["a subcommand", ["config", ""], ["show", "path", "validate", "schema"]],
  ])("is %s", async (_title, words, expected) => {
    expect(await candidates(...words)).toEqual(expected);
  });

  test("of a dash are the flags, the common ones included", async () => {
    expect(await candidates("kill", "--")).toEqual(
      expect.arrayContaining(["--reason", "--keep-worktree", "--json", "--no-color"]),
    );
  });

  test.each(["bash", "zsh", "fish"])("the script for %s asks ao for candidates", async (shell) => {
    const { exitCode, stdout } = await memoryCli(aWorld(), ["completion", shell]);
    expect(exitCode).toBe(0);
    expect(stdout).toContain("ao __complete -- ");
  });
});
