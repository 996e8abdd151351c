import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openAo } from "../../src/compose.ts";
import type { AoError } from "../../src/domain/errors.ts";
import { anEmptySpawn, planSpawn, spawnPlanned } from "../../src/lifecycle/configured-sessions.ts";
import type { Agent } from "../../src/ports/agent.ts";
import { type Ao, aoSandbox, git } from "../support/ao.ts";

const COMMIT = "git -c user.name=T -c user.email=t@example.org commit -qm 'the work' --allow-empty";

/** The agent whose death counts as one at birth however long it takes to work before. */
function slowToSettle(agent: Agent): Agent {
  return { ...agent, launch: (request) => ({ ...agent.launch(request), settleMs: 20_000 }) };
}

/** Spawns the script as an agent on branch `feat/x`, on the real adapters, and gives the error. */
async function deathOf(ao: Ao, cwd: string, script: string): Promise<AoError> {
  const opened = await openAo({ env: ao.env, cwd, access: "create" });
  const agents = new Map([...opened.deps.agents].map(([name, agent]) => [name, slowToSettle(agent)]));
  const open = { ...opened, deps: { ...opened.deps, agents } };
  const plan = await planSpawn(open, { project: null, kind: "worker", agent: "shell" });
  const request = { ...anEmptySpawn, branch: "feat/x", agentArgs: ["sh", "-c", script] };
  try {
    return await spawnPlanned(open, plan, request).then(
      () => Promise.reject(),
      (error) => error,
    );
  } finally {
    open.close();
  }
}

/** What the commands of a hint print, typed as they stand there. */
function typed(hint: string | null): string {
  const commands = /see what was done: (.*)$/.exec(hint ?? "")?.[1] ?? "exit 1";
  const { stdout, stderr, status } = spawnSync("/bin/sh", ["-c", commands], { encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
  return stdout;
}

describe("an agent that ends at once", () => {
  test("after it committed leaves its branch, and the error names that and how to see it", async () => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    const error = await deathOf(ao, cwd, `${COMMIT}; exit 7`);
    expect(error).toMatchObject({
      code: "agent_start_failed",
      message: expect.stringMatching(/status 7.*; kept for the work in it: branch feat\/x$/),
      details: { left: [{ what: "branch", where: "feat/x", why: "it holds 1 commit made since" }] },
    });
    expect(error.hint).not.toMatch(/remov|delet/);
    expect(typed(error.hint)).toContain("the work");
    expect(git(cwd, "worktree", "list").split("\n")).toHaveLength(1);
  });

  test("after it left a file keeps the worktree, and the error names both with the way to see them", async () => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    const error = await deathOf(ao, cwd, `${COMMIT}; echo mine > notes.txt; exit 7`);
    const path = join(ao.dataDir, "worktrees", "shop", "shop-1");
    expect(error).toMatchObject({
      code: "agent_start_failed",
      message: expect.stringContaining(`kept for the work in it: worktree ${path}, branch feat/x`),
      details: {
        left: [
          { what: "worktree", where: path },
          { what: "branch", where: "feat/x" },
        ],
      },
    });
    expect(error.hint).not.toMatch(/remov|delet/);
    const seen = typed(error.hint);
    expect(seen).toContain("notes.txt");
    expect(seen).toContain("the work");
    expect(readFileSync(join(path, "notes.txt"), "utf8")).toBe("mine\n");
  });

  test("after it did nothing leaves nothing to name", async () => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    const error = await deathOf(ao, cwd, "exit 7");
    expect(error).toMatchObject({ code: "agent_start_failed", hint: null });
    expect(existsSync(join(ao.dataDir, "worktrees", "shop", "shop-1"))).toBe(false);
    expect(git(cwd, "branch", "--list", "feat/x")).toBe("");
  });
});
