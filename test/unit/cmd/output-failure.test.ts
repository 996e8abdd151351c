import { describe, expect, test } from "vitest";
import { memoryCli } from "../../support/memory-cli.ts";
import { aWorld, type World } from "../../support/world.ts";

const WHY = "the result could not be written to standard output: ENOSPC: full, write";
const full = { fullStdout: true };

async function anErrorOf(world: World, argv: readonly string[]) {
  const { exitCode, stderr } = await memoryCli(world, [...argv, "--json"], full);
  expect(stderr).toMatch(/^[^\n]+\n$/);
  return { exitCode, ...JSON.parse(stderr).error };
}

describe("a standard output that takes nothing", () => {
  test("is one clear error of a spawn, which names the session it started", async () => {
    const world = aWorld();
    const { exitCode, stderr } = await memoryCli(world, ["spawn", "--prompt", "x"], full);
    expect(exitCode).toBe(1);
    const [first, ...rest] = stderr.trimEnd().split("\n");
    expect(first).toBe(`ao: ${WHY}`);
    expect(rest).toContain("  SESSION=app-1");
    expect(rest.at(-1)).toBe("hint: it was done all the same");
  });

  test("is an error in JSON that carries the result of what was done", async () => {
    const world = aWorld();
    expect(await anErrorOf(world, ["spawn"])).toMatchObject({
      exitCode: 1,
      code: "output_failed",
      details: { result: { id: "app-1" } },
    });
    expect(await anErrorOf(world, ["kill", "app-1"])).toMatchObject({
      exitCode: 1,
      details: { result: { id: "app-1", workspaceFreed: true } },
    });
  });

  test.each(["list", "show app-1", "doctor", "list --help", "--help", "completion bash"])(
    "is one line of ao %s, which did nothing",
    async (line) => {
      const world = aWorld();
      await world.spawn();
      const { exitCode, stderr } = await memoryCli(world, line.split(" "), full);
      expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: `ao: ${WHY}\n` });
    },
  );

  test("does not hide what else failed", async () => {
    const world = aWorld();
    const { id } = await world.spawn();
    const other = await world.spawn({ issueId: "43" });
    world.workspace.refuse(world.row(other.id).metadata.workspacePath);
    const { exitCode, stderr } = await memoryCli(world, ["kill", id, other.id], full);
    expect(exitCode).toBe(4);
    expect(stderr).toContain(`ao: 1 of 2 sessions failed; ${WHY}\n`);
    expect(stderr).toContain("  app-1 killed, worktree freed\n");
  });
});
