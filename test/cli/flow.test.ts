import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { aoSandbox, git } from "../support/ao.ts";
import {
  cleanupSchema,
  killSchema,
  listSchema,
  outputSchema,
  sendSchema,
  sessionSchema,
  showSchema,
} from "../support/json-schemas.ts";

describe("a session from spawn to cleanup", () => {
  test("is spawned, watched, messaged, killed, restored and cleaned up, and nothing is left over", async () => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    const before = await ao.traces(cwd);

    const spawned = await ao.json(sessionSchema, ["spawn", "42", "--title", "Fix it", "--prompt", "hello"], {
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
    });
    expect(existsSync(spawned.workspacePath)).toBe(false);
    expect((await ao.json(listSchema, ["list"])).meta.hiddenTerminatedCount).toBe(1);

    const restored = await ao.json(sessionSchema, ["restore", "shop-1"], { cwd });
    expect(restored).toMatchObject({
      agentSessionId: spawned.agentSessionId,
      workspacePath: spawned.workspacePath,
      isTerminated: false,
    });
    expect(readFileSync(join(restored.workspacePath, "notes.txt"), "utf8")).toBe("first; line\n");
    await ao.until("shop-1", "idle");
    expect((await ao.run(["output", "shop-1"])).stdout).toContain("earlier prompt");

    await ao.json(killSchema, ["kill", "shop-1", "--keep-worktree", "--reason", "cleanup", "--note", "done"]);
    expect((await ao.json(listSchema, ["ls", "-a"])).data[0]).toMatchObject({ status: "cleanup" });
    const dry = await ao.json(cleanupSchema, ["cleanup", "--dry-run"], { cwd });
    const real = await ao.json(cleanupSchema, ["cleanup"], { cwd });
    expect(real).toEqual({ ...dry, dryRun: false });
    expect(real.cleaned).toEqual([{ id: "shop-1", projectId: "shop", salvageRef: null }]);

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

  test("an agent that was killed by kill -9 is not shown as working", async () => {
    const ao = aoSandbox();
    const id = await ao.spawn(ao.repository());
    await ao.until(id, "idle");
    process.kill(Number(ao.tmux("list-panes", "-a", "-F", "#{pane_pid}")), "SIGKILL");
    await ao.until(id, "detecting", "killed", "stuck");
    const { status, lifecycle } = await ao.json(showSchema, ["show", id]);
    expect(["working", "idle", "spawning"]).not.toContain(status);
    expect(lifecycle.runtime.state).not.toBe("alive");
  });

  test("20 spawns at once are 20 sessions, 20 worktrees, 20 tmux sessions", async () => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    const ids = await Promise.all(
      Array.from({ length: 20 }, () => ao.spawn(cwd, ["--agent", "shell", "--", "sleep", "60"])),
    );
    expect(new Set(ids).size).toBe(20);
    expect(git(cwd, "worktree", "list").split("\n")).toHaveLength(21);
    expect(ao.tmux("list-sessions", "-F", "#{session_name}").split("\n").sort()).toEqual([...ids].sort());
    const { data } = await ao.json(listSchema, ["list"]);
    expect(data.map((session) => session.id).sort()).toEqual([...ids].sort());
    const killed = await ao.run(["kill", ...ids]);
    expect(killed).toMatchObject({ exitCode: 0, stderr: "" });
    expect(git(cwd, "worktree", "list").split("\n")).toHaveLength(1);
  });
});
