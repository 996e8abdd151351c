import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Ao, aoSandbox, git } from "../support/ao.ts";
import {
  cleanupSchema,
  killSchema,
  listSchema,
  reconcileSchema,
  restoreSchema,
  salvageListSchema,
  salvageSchema,
  turnsSchema,
} from "../support/json-schemas.ts";

/** A session at rest, and its worktree. */
async function atRest(ao: Ao, cwd: string) {
  const id = await ao.spawn(cwd, ["--prompt", "hello"]);
  await ao.until(id, "idle");
  const [found] = (await ao.json(listSchema, ["list"])).data;
  return { id, worktree: found?.workspacePath ?? "" };
}

/** Work of all kinds, in a merge that is in conflict. */
function work(worktree: string): void {
  const write = (path: string, content: string) => writeFileSync(join(worktree, path), content);
  write("both.txt", "base\n");
  write(".gitignore", ".env\n");
  git(worktree, "add", ".");
  git(worktree, "commit", "-q", "-m", "base");
  git(worktree, "switch", "-q", "-c", "side");
  write("both.txt", "theirs\n");
  git(worktree, "commit", "-q", "-a", "-m", "theirs");
  git(worktree, "switch", "-q", "-");
  write("both.txt", "ours\n");
  git(worktree, "commit", "-q", "-a", "-m", "ours");
  expect(() => git(worktree, "merge", "-q", "side")).toThrow();
  write("staged.txt", "staged\n");
  git(worktree, "add", "staged.txt");
  write("staged.txt", "changed again\r\n");
  write("notes.txt", "mine\n");
  chmodSync(join(worktree, "notes.txt"), 0o755);
  write(".env", "SECRET=1\n");
  symlinkSync("nowhere", join(worktree, "link"));
  mkdirSync(join(worktree, "empty"));
}

/** Everything of a worktree, as git and the file system tell it. */
function picture(worktree: string) {
  const files = execFileSync("find", [".", "-path", "./.git", "-prune", "-o", "-printf", "%y %m %l %p\n"], {
    cwd: worktree,
    encoding: "utf8",
  });
  return {
    files: files.split("\n").sort(),
    status: git(worktree, "status", "--porcelain=v2", "--branch", "--ignored"),
    index: git(worktree, "ls-files", "--stage"),
    merge: git(worktree, "rev-parse", "MERGE_HEAD"),
    notes: readFileSync(join(worktree, "staged.txt"), "utf8"),
  };
}

describe("work in a worktree", () => {
  test("comes back with restore though one of its names is no text, and reconcile finds nothing left", async () => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    const { id, worktree } = await atRest(ao, cwd);
    const bad = Buffer.from(`${worktree}/bad\xff`, "latin1");
    writeFileSync(join(worktree, "work.txt"), "precious\n");
    writeFileSync(bad, "bytes\n");
    const killed = await ao.json(killSchema, ["kill", id, "--salvage"]);
    expect(killed).toMatchObject({ workspaceFreed: true, salvageRef: expect.any(String) });
    expect((await ao.json(reconcileSchema, ["reconcile"])).errors).toEqual([]);
    await ao.json(restoreSchema, ["restore", id]);
    expect(readFileSync(join(worktree, "work.txt"), "utf8")).toBe("precious\n");
    expect(readFileSync(bad, "utf8")).toBe("bytes\n");
  });

  test("is kept by kill --salvage and comes back with restore, staged as staged", async () => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    const { id, worktree } = await atRest(ao, cwd);
    work(worktree);
    const before = picture(worktree);
    const refused = await ao.error(["kill", id]);
    expect(refused).toMatchObject({
      exitCode: 4,
      code: "workspace_dirty",
      hint: expect.stringContaining("--salvage"),
    });
    expect(picture(worktree)).toEqual(before);

    const ref = `refs/ao/salvage/${id}/1`;
    const killed = await ao.json(killSchema, ["kill", id, "--salvage"]);
    expect(killed).toMatchObject({ salvageRef: ref, workspaceFreed: true, alreadyTerminated: true });
    expect(existsSync(worktree)).toBe(false);
    expect((await ao.json(salvageListSchema, ["salvage", "list"])).data).toMatchObject([
      { ref, sessionId: id },
    ]);
    const shown = await ao.json(salvageSchema, ["salvage", "show", id]);
    expect(shown.operations).toEqual(["merge"]);
    expect(Object.fromEntries(shown.files.map(({ path, kind }) => [path, kind]))).toMatchObject({
      ...{ ".env": "ignored", "both.txt": "conflicted", "notes.txt": "untracked", "staged.txt": "changed" },
    });

    git(cwd, "gc", "-q", "--prune=now");
    await ao.json(restoreSchema, ["restore", id], { cwd });
    expect(picture(worktree)).toEqual(before);
  });

  test("is kept by cleanup --salvage, which frees what its dry run names", async () => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    const { id, worktree } = await atRest(ao, cwd);
    writeFileSync(join(worktree, "notes.txt"), "mine\n");
    await ao.json(killSchema, ["kill", id, "--keep-worktree"]);
    const plain = await ao.json(cleanupSchema, ["cleanup", "--all-projects"]);
    expect(plain).toMatchObject({ cleaned: [], skipped: [{ id, reason: "untracked" }] });
    const dry = await ao.json(cleanupSchema, ["cleanup", "--all-projects", "--salvage", "--dry-run"]);
    expect(dry).toMatchObject({ cleaned: [{ id, salvageRef: null }], dryRun: true });
    expect(existsSync(worktree)).toBe(true);
    const run = await ao.json(cleanupSchema, ["cleanup", "--all-projects", "--salvage"]);
    expect(run).toMatchObject({ cleaned: [{ id, salvageRef: `refs/ao/salvage/${id}/1` }], errors: [] });
    expect(existsSync(worktree)).toBe(false);
    await ao.json(restoreSchema, ["restore", id], { cwd });
    expect(readFileSync(join(worktree, "notes.txt"), "utf8")).toBe("mine\n");
  });

  test("is not put over what came on the branch meanwhile; restore without it works, and it stays", async () => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    const { id, worktree } = await atRest(ao, cwd);
    writeFileSync(join(worktree, "notes.txt"), "mine\n");
    const branch = git(worktree, "branch", "--show-current");
    await ao.json(killSchema, ["kill", id, "--salvage"]);
    const commit = git(cwd, "commit-tree", "-m", "later", "-p", branch, `${branch}^{tree}`);
    git(cwd, "update-ref", `refs/heads/${branch}`, commit);
    const refused = await ao.error(["restore", id], { cwd });
    expect(refused).toMatchObject({ exitCode: 4, code: "salvage_conflict" });
    expect(existsSync(worktree)).toBe(false);
    await ao.json(restoreSchema, ["restore", id, "--no-salvage"], { cwd });
    expect(existsSync(join(worktree, "notes.txt"))).toBe(false);
    expect((await ao.json(salvageListSchema, ["salvage", "list", id])).data).toHaveLength(1);
  });
});

describe("the files of a turn", () => {
  test("are kept at its end, and rewind puts them back", async () => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    const { id, worktree } = await atRest(ao, cwd);
    await ao.json(reconcileSchema, ["reconcile"]);
    const [turn] = (await ao.json(turnsSchema, ["turns", id])).data;
    expect(turn?.checkpoint?.ref).toBe(`refs/ao/checkpoints/${id}/${turn?.id}`);
    const before = git(worktree, "status", "--porcelain");
    writeFileSync(join(worktree, "notes.txt"), "later\n");
    rmSync(join(worktree, "README.md"), { force: true });
    const { exitCode, stdout, stderr } = await ao.run(["rewind", id, "--to", turn?.id ?? "", "--json"]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(JSON.parse(stdout)).toEqual({
      ...{ id, turnId: turn?.id, salvageRef: `refs/ao/salvage/${id}/1` },
      warnings: [],
    });
    expect(git(worktree, "status", "--porcelain")).toBe(before);
  });
});
