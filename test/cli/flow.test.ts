import { spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { systemProcessTable } from "../../src/adapters/processes/system-process-table.ts";
import { AO, type Ao, aoSandbox, git } from "../support/ao.ts";
import {
  cleanupSchema,
  killSchema,
  listSchema,
  outputSchema,
  restoreSchema,
  sendSchema,
  showSchema,
  spawnSchema,
} from "../support/json-schemas.ts";

/** A shell that spawns `count` sessions of the embedded agent in the background and waits for them. */
function spawnInShell(ao: Ao, cwd: string, count: number) {
  const loop = `i=0; while [ $i -lt ${count} ]; do "$0" "$1" spawn --prompt "say hello" & i=$((i + 1)); done; wait`;
  const child = spawn("/bin/sh", ["-c", loop, process.execPath, AO], { cwd, env: ao.env, stdio: "pipe" });
  const written = { stdout: "", stderr: "" };
  child.stdout.on("data", (chunk: Buffer) => {
    written.stdout += chunk.toString();
  });
  child.stderr.on("data", (chunk: Buffer) => {
    written.stderr += chunk.toString();
  });
  return new Promise<typeof written>((resolve) => child.once("close", () => resolve(written)));
}

describe("a session from spawn to cleanup", () => {
  test("is spawned, watched, messaged, killed, restored and cleaned up, and nothing is left over", async () => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    const before = await ao.traces(cwd);

    const spawned = await ao.json(spawnSchema, ["spawn", "42", "--title", "Fix it", "--prompt", "hello"], {
      cwd,
    });
    expect(spawned).toMatchObject({
      id: "shop-1",
      status: "spawning",
      branch: "feat/42-fix-it",
      baseRef: "main",
      issueId: "42",
      agent: "embedded",
    });
    expect(git(spawned.workspacePath, "branch", "--show-current")).toBe("feat/42-fix-it");
    await ao.until("shop-1", "idle");

    const listed = await ao.json(listSchema, ["list"]);
    expect(listed.data).toMatchObject([{ id: "shop-1", status: "idle", isTerminated: false }]);
    expect(listed.meta.observedAt).not.toBeNull();
    await ao.json(showSchema, ["show", "shop-1"]);

    const sent = await ao.json(sendSchema, ["send", "shop-1", "write", "notes.txt", "first; line"]);
    expect(sent.state).toBe("delivered");
    await ao.until("shop-1", "idle");
    const { lines } = await ao.json(outputSchema, ["output", "shop-1", "-n", "40"]);
    expect(lines.join("\n")).toContain("write notes.txt first; line");
    await ao.json(sendSchema, ["send", "shop-1", "commit Add notes"]);
    await ao.until("shop-1", "idle");

    expect(await ao.json(killSchema, ["kill", "shop-1"])).toEqual({
      id: "shop-1",
      workspaceFreed: true,
      alreadyTerminated: false,
      salvageRef: null,
      workspacePath: null,
      queuedMessages: 0,
    });
    expect(existsSync(spawned.workspacePath)).toBe(false);
    expect((await ao.json(listSchema, ["list"])).meta.hiddenTerminatedCount).toBe(1);

    const restored = await ao.json(restoreSchema, ["restore", "shop-1"], { cwd });
    expect(restored).toMatchObject({
      agentSessionId: spawned.agentSessionId,
      workspacePath: spawned.workspacePath,
      isTerminated: false,
      ...{ fresh: false, salvageRef: null, warnings: [] },
    });
    expect(readFileSync(join(restored.workspacePath, "notes.txt"), "utf8")).toBe("first; line\n");
    await ao.until("shop-1", "idle");
    expect((await ao.run(["output", "shop-1"])).stdout).toContain("earlier prompt");

    await ao.json(killSchema, ["kill", "shop-1", "--keep-worktree", "--reason", "cleanup", "--note", "done"]);
    expect((await ao.json(listSchema, ["ls", "-a"])).data[0]).toMatchObject({ status: "cleanup" });
    const dry = await ao.json(cleanupSchema, ["cleanup", "--dry-run"], { cwd });
    const real = await ao.json(cleanupSchema, ["cleanup"], { cwd });
    expect(real).toEqual({ ...dry, dryRun: false });
    const remains = { branch: "feat/42-fix-it", commits: 1, stashes: 0 };
    expect(real.cleaned).toEqual([
      { id: "shop-1", projectId: "shop", salvageRef: null, remains, branchDeleted: null },
    ]);

    git(cwd, "branch", "-D", "feat/42-fix-it");
    expect(await ao.traces(cwd)).toMatchObject({
      ...before,
      rows: [{ id: "shop-1", status: "cleanup" }],
      projects: [{ id: "shop" }],
      files: expect.arrayContaining([join("embedded", `${spawned.agentSessionId}.jsonl`)]),
    });
  });

  test("a worktree with work is kept by kill, skipped by cleanup, freed once it is pushed", async () => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    git(ao.root, "clone", "-q", "--bare", cwd, "origin.git");
    git(cwd, "remote", "add", "origin", join(ao.root, "origin.git"));
    git(cwd, "fetch", "-q", "origin");
    const id = await ao.spawn(cwd, ["7"]);
    const { workspacePath } = await ao.json(showSchema, ["show", id]);
    writeFileSync(join(workspacePath, "README.md"), "changed\n");
    writeFileSync(join(workspacePath, "new.txt"), "untracked\n");

    const refused = await ao.error(["kill", id]);
    expect(refused).toMatchObject({
      exitCode: 4,
      code: "workspace_dirty",
      details: { id, workspaceFreed: false, workspacePath, findings: expect.any(Array) },
    });
    expect(readFileSync(join(workspacePath, "README.md"), "utf8")).toBe("changed\n");
    expect(readFileSync(join(workspacePath, "new.txt"), "utf8")).toBe("untracked\n");
    expect((await ao.json(showSchema, ["show", id])).status).toBe("killed");
    expect(ao.tmux("list-sessions", "-F", "#{session_name}")).toBe("");

    const skipped = await ao.run(["cleanup"], { cwd });
    expect(skipped).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^skipped shop-1: dirty: /) });

    git(workspacePath, "add", ".");
    git(workspacePath, "commit", "-q", "-m", "Keep it");
    git(workspacePath, "push", "-q", "origin", "HEAD");
    expect(await ao.run(["cleanup"], { cwd })).toMatchObject({ exitCode: 0, stdout: `freed ${id}\n` });
    expect(existsSync(workspacePath)).toBe(false);
  });

  test("a working agent that was killed by kill -9 is not shown as working by the next list", async () => {
    const ao = aoSandbox();
    const id = await ao.spawn(ao.repository(), ["--prompt", "wait 60"]);
    await ao.until(id, "working");
    const pid = Number(ao.tmux("list-panes", "-a", "-F", "#{pane_pid}"));
    process.kill(pid, "SIGKILL");
    await expect.poll(() => systemProcessTable().identify(pid), { timeout: 10_000 }).toBeUndefined();
    const { data } = await ao.json(listSchema, ["list", "-a"]);
    expect(data.map((session) => session.id)).toEqual([id]);
    expect(["working", "idle", "spawning"]).not.toContain(data[0]?.status);
    expect(data[0]?.lifecycle.runtime.state).not.toBe("alive");
  });

  test("20 spawns at once from two shells are 20 sessions, 20 worktrees, 20 tmux sessions", async () => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    const shells = await Promise.all([spawnInShell(ao, cwd, 10), spawnInShell(ao, cwd, 10)]);
    expect(shells.map(({ stderr }) => stderr)).toEqual(["", ""]);
    const ids = shells.flatMap(({ stdout }) => [...stdout.matchAll(/^SESSION=(\S+)$/gm)].map(([, id]) => id));
    const expected = Array.from({ length: 20 }, (_, index) => `shop-${index + 1}`).sort();
    expect([...ids].sort()).toEqual(expected);

    const { data } = await ao.json(listSchema, ["list"]);
    expect(data.map(({ id }) => id).sort()).toEqual(expected);
    expect(new Set(data.map(({ agentSessionId }) => agentSessionId)).size).toBe(20);
    expect(git(cwd, "worktree", "list").split("\n")).toHaveLength(21);
    expect(ao.tmux("list-sessions", "-F", "#{session_name}").split("\n").sort()).toEqual(expected);

    const killed = await ao.json(z.array(killSchema), ["kill", ...expected]);
    expect(killed.map(({ id, workspaceFreed }) => [id, workspaceFreed])).toEqual(
      expected.map((id) => [id, true]),
    );
    expect(git(cwd, "worktree", "list").split("\n")).toHaveLength(1);
  }, 240_000);
});
