import { cpSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { SessionId } from "../../../../src/domain/ids.ts";
import { gitRepository, writeIn } from "../../../support/git-repository.ts";
import { operationId } from "../../../support/operations.ts";
import { tempDir } from "../../../support/temp-dir.ts";
import {
  failure,
  filesBelow,
  gitDirOf,
  traces,
  type WorktreeWorld,
  worktreeWorld,
} from "./worktree-world.ts";

async function created(world = worktreeWorld()) {
  const { path } = await world.workspace.create(world.spec({ operationId: operationId(1) }));
  return { ...world, world, path };
}

/** The flaws of what is found, by session. */
async function flaws({ workspace }: Pick<WorktreeWorld, "workspace">) {
  return (await workspace.marked()).map(({ ref, flaw }) => [ref.sessionId, flaw]);
}

test("folders that are not called as ours are left out", async () => {
  const { managedRoot, workspace } = await created();
  writeIn(managedRoot, ".gitignore", "*\n");
  writeIn(managedRoot, ".trash/app-3/x", "");
  writeIn(managedRoot, "app/notes/x", "");
  writeIn(managedRoot, "app/app-x/x", "");
  writeIn(managedRoot, "a b/app-4/x", "");
  expect((await workspace.marked()).map(({ ref }) => ref.sessionId)).toEqual(["app-1"]);
});

test("the repository is known, also of a worktree that an earlier ao marked without it", async () => {
  const { path, repository, workspace } = await created();
  const marker = JSON.stringify({
    ...{ sessionId: "app-1", projectId: "app", managedRoot: join(path, "..", "..") },
    ...{ createdAtMs: 1, put: [] },
  });
  writeFileSync(join(gitDirOf(path), "ao.json"), marker);
  const [found] = await workspace.marked();
  expect(found).toMatchObject({ operationId: null, createdAtMs: 1, flaw: null });
  expect(found?.ref.repositoryPath).toBe(join(repository.path, ".git"));
  await workspace.destroy(found?.ref ?? expect.fail());
  expect(repository.worktrees()).toEqual([repository.path]);
});

describe("nobody can judge, and it says why", () => {
  test.each<[string, string | RegExp, (path: string) => void]>([
    ["its .git file is gone", /\.git file is missing/, (path) => rmSync(join(path, ".git"))],
    ["its .git file is damaged", /damaged/, (path) => writeFileSync(join(path, ".git"), "x")],
    [
      "another repository is there",
      "another repository is there",
      (path) => {
        rmSync(path, { recursive: true });
        gitRepository(path);
      },
    ],
    ["its record is gone", "does not know it", (path) => rmSync(gitDirOf(path), { recursive: true })],
    ["its mark is gone", "it has no mark of ao", (path) => rmSync(join(gitDirOf(path), "ao.json"))],
    [
      "its mark is damaged",
      "it has no mark of ao",
      (path) => writeFileSync(join(gitDirOf(path), "ao.json"), "{"),
    ],
    [
      "it was moved from where it belongs",
      "it belongs at",
      (path) => renameSync(path, path.replace("app-1", "app-2")),
    ],
    [
      "it is only an empty folder",
      /\.git file is missing/,
      (path) => {
        rmSync(path, { recursive: true });
        mkdirSync(path);
      },
    ],
  ])("%s", async (_what, flaw, spoil) => {
    const all = await created();
    spoil(all.path);
    const [[, found] = []] = await flaws(all);
    expect(found).toMatch(flaw);
  });

  test("whose it is when it is marked as another's", async () => {
    const all = await created();
    const marker = {
      sessionId: "app-7",
      projectId: "app",
      managedRoot: "/elsewhere",
      createdAtMs: 1,
      put: [],
    };
    writeFileSync(join(gitDirOf(all.path), "ao.json"), JSON.stringify(marker));
    expect(await flaws(all)).toEqual([["app-1", "it is marked as app-7 of /elsewhere"]]);
  });

  test("one whose making was killed during its commands, with the operation", async () => {
    const { path, workspace } = await created();
    writeFileSync(join(gitDirOf(path), "locked"), `ao operation ${operationId(1)}`);
    expect(await workspace.marked()).toMatchObject([
      { operationId: operationId(1), flaw: "its making was not finished" },
    ]);
    rmSync(join(gitDirOf(path), "ao.json"));
    expect(await workspace.marked()).toMatchObject([
      { operationId: operationId(1), flaw: "it has no mark of ao" },
    ]);
  });
});

test("a copy of the data directory has none of the worktrees that are in it", async () => {
  const { dataDir, repository, workspace } = await created();
  const copy = join(tempDir("ao-copy"), "data");
  cpSync(dataDir, copy, { recursive: true });
  const other = worktreeWorld(repository, { managedRoot: join(copy, "worktrees") });
  const found = await other.workspace.marked();
  expect(found.map(({ flaw }) => flaw)).toEqual([expect.stringContaining("it belongs at")]);
  const before = traces(other);
  for (const { ref } of found) await failure(other.workspace.destroy(ref), "workspace_unsafe_path");
  expect(traces(other)).toEqual(before);
  expect(await workspace.marked()).toMatchObject([{ flaw: null }]);
});

test("one that an interrupted removal moved aside is found where it belongs, and freed", async () => {
  const { dataDir, path, trashDir, workspace, spec } = await created();
  mkdirSync(trashDir, { recursive: true });
  renameSync(path, join(trashDir, "app-1.held"));
  const { path: second } = await workspace.create(
    spec({ sessionId: "app-2" as SessionId, branch: "feat/2" }),
  );
  const found = await workspace.marked();
  expect(found.map(({ ref }) => ref.path)).toEqual([path, second]);
  for (const { ref } of found) await workspace.destroy(ref);
  expect(await workspace.marked()).toEqual([]);
  await workspace.sweepTrash();
  expect(filesBelow(dataDir).filter((name) => name.includes("app"))).toEqual([]);
});

test("an empty folder goes when it is freed, though nobody knows its repository", async () => {
  const { managedRoot, workspace } = worktreeWorld();
  mkdirSync(join(managedRoot, "app", "app-1"), { recursive: true });
  const [found] = await workspace.marked();
  await workspace.destroy(found?.ref ?? expect.fail());
  expect(filesBelow(managedRoot)).toEqual([]);
});

test("a root that is missing, or no folder, has nothing", async () => {
  const file = join(tempDir("ao-file"), "file");
  writeFileSync(file, "");
  expect(await worktreeWorld(gitRepository(), { managedRoot: "/nonexistent" }).workspace.marked()).toEqual(
    [],
  );
  const world = worktreeWorld(gitRepository(), { managedRoot: file });
  expect(await world.workspace.marked()).toEqual([]);
});
