import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { aoSandbox, git } from "../support/ao.ts";
import { killSchema, listSchema, restoreSchema, spawnSchema } from "../support/json-schemas.ts";

const SLEEP = ["--agent", "shell", "--", "sleep", "60"];

describe("a session whose agent switched to another branch", () => {
  test("comes back on that branch, with its commits, after its worktree was freed", async () => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    const id = await ao.spawn(cwd, ["--prompt", "hello"]);
    await ao.until(id, "idle");
    const [before] = (await ao.json(listSchema, ["list"])).data;
    const worktree = before?.workspacePath ?? "";
    git(worktree, "switch", "-q", "-c", "other");
    writeFileSync(join(worktree, "notes.txt"), "mine\n");
    git(worktree, "add", "notes.txt");
    git(worktree, "commit", "-q", "-m", "Work");

    expect(await ao.json(killSchema, ["kill", id])).toMatchObject({ workspaceFreed: true });
    expect((await ao.json(listSchema, ["list", "-a"])).data).toMatchObject([{ branch: "other" }]);

    const restored = await ao.json(restoreSchema, ["restore", id], { cwd });
    expect(restored).toMatchObject({ branch: "other", workspacePath: worktree });
    expect(git(worktree, "branch", "--show-current")).toBe("other");
    expect(existsSync(join(worktree, "notes.txt"))).toBe(true);
  });

  test("is listed with that branch once it is restored in a worktree that stayed", async () => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    const id = await ao.spawn(cwd, ["--prompt", "hello"]);
    await ao.until(id, "idle");
    const [before] = (await ao.json(listSchema, ["list"])).data;
    git(before?.workspacePath ?? "", "switch", "-q", "-c", "other");
    await ao.json(killSchema, ["kill", id, "--keep-worktree"]);
    await ao.json(restoreSchema, ["restore", id], { cwd });
    expect((await ao.json(listSchema, ["list"])).data).toMatchObject([{ branch: "other" }]);
  });
});

test("a script is told, as a person is, that a new session goes on from another issue's branch", async () => {
  const ao = aoSandbox();
  const cwd = ao.repository();
  expect((await ao.json(spawnSchema, ["spawn", "a..b", ...SLEEP], { cwd })).warnings).toEqual([]);
  await ao.json(killSchema, ["kill", "shop-1"]);
  const second = await ao.json(spawnSchema, ["spawn", "a-b", ...SLEEP], { cwd });
  expect(second.warnings).toEqual([expect.stringContaining("is the one of issue a..b (shop-1)")]);
});
