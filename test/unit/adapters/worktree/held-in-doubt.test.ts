import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { entryAt, namesAt } from "../../../../src/adapters/worktree/entry-at.ts";
import { listRecords } from "../../../../src/adapters/worktree/worktree-records.ts";
import type { SessionId } from "../../../../src/domain/ids.ts";
import { writeIn } from "../../../support/git-repository.ts";
import { tempDir } from "../../../support/temp-dir.ts";
import { failure, gitDirOf, traces, worktreeWorld } from "./worktree-world.ts";

/** A worktree with work in it that a removal moved aside before it was killed. */
async function heldWorld() {
  const world = worktreeWorld();
  const { path } = await world.workspace.create(world.spec());
  writeIn(path, "work.txt", "mine\n");
  const gitDir = gitDirOf(path);
  const held = join(world.trashDir, "app-1.held");
  mkdirSync(world.trashDir, { recursive: true });
  renameSync(path, held);
  return { ...world, world, path, gitDir, held };
}

type Held = Awaited<ReturnType<typeof heldWorld>>;

describe("work that a broken removal moved aside is still there to be seen", () => {
  test.each<[string, RegExp, (held: Held) => void]>([
    [
      "git has pruned its record",
      /no record|does not know it/,
      (it) => it.repository.git("worktree", "prune"),
    ],
    ["its mark is gone", /its mark is gone|no mark of ao/, (it) => rmSync(join(it.gitDir, "ao.json"))],
    [
      "its mark is damaged",
      /its mark is gone|no mark of ao/,
      (it) => writeFileSync(join(it.gitDir, "ao.json"), "{"),
    ],
    ["its repository is gone", /repository/, (it) => rmSync(it.repository.path, { recursive: true })],
  ])("when %s", async (_what, why, lose) => {
    const it = await heldWorld();
    lose(it);
    const spec = it.spec();
    const [finding] = await it.workspace.inspect(spec);
    expect(finding).toMatchObject({ kind: "unreadable", detail: expect.stringContaining(it.held) });
    expect(finding?.detail).toMatch(why);
    const { message } = await failure(it.workspace.destroy(spec), "workspace_dirty");
    expect(message).toContain(it.held);
    const refused = await failure(it.workspace.planRestore(spec), "git_failed");
    expect(refused.hint).toContain(it.held);
    expect(await it.workspace.marked()).toMatchObject([
      { ref: { sessionId: "app-1", path: it.held }, flaw: expect.stringMatching(why) },
    ]);
    expect(readFileSync(join(it.held, "work.txt"), "utf8")).toBe("mine\n");
  });

  test("and is put back when nothing was lost", async () => {
    const it = await heldWorld();
    await it.workspace.destroy(it.spec()).catch(() => undefined);
    expect(readFileSync(join(it.path, "work.txt"), "utf8")).toBe("mine\n");
  });
});

describe("what the system would not tell is the third answer", () => {
  test("for a mark that cannot be read: nobody takes it for none", async () => {
    const { workspace, spec, world, repository } = await standing();
    const file = join(repository.path, ".git", "worktrees", "app-1", "ao.json");
    rmSync(file);
    mkdirSync(file);
    const before = traces(world);
    await failure(workspace.inspect(spec()), "git_unavailable");
    await failure(workspace.destroy(spec()), "git_unavailable");
    expect(await workspace.marked()).toMatchObject([{ flaw: expect.stringContaining("ao.json") }]);
    expect(traces(world)).toEqual(before);
  });

  test("for a record that cannot be read: nobody takes the worktree for none of git's", async () => {
    const { workspace, spec, repository } = await standing();
    const file = join(repository.path, ".git", "worktrees", "app-1", "gitdir");
    rmSync(file);
    mkdirSync(file);
    await failure(workspace.inspect(spec()), "git_unavailable");
    await failure(listRecords(join(repository.path, ".git")), "git_unavailable");
    expect(await workspace.marked()).toMatchObject([{ flaw: expect.stringContaining("EISDIR") }]);
  });

  test("for a folder or a repository that cannot be looked at", async () => {
    const loop = join(tempDir("ao-loop"), "loop");
    symlinkSync(loop, loop);
    await failure(entryAt(join(loop, "x")), "data_dir_unusable");
    await failure(namesAt(loop), "data_dir_unusable");
    const { workspace, spec } = worktreeWorld();
    await failure(workspace.plan(spec({ repositoryPath: loop })), "git_unavailable");
  });
});

test("a record that is dropped while it is read is none, whatever has gone of it", async () => {
  const { repository, workspace, spec } = await standing();
  await workspace.create(spec({ sessionId: "app-2" as SessionId, branch: "feat/2" }));
  const records = join(repository.path, ".git", "worktrees");
  let isDone = false;
  const dropping = (async () => {
    for (let round = 0; round < 300; round += 1) {
      renameSync(join(records, "app-2"), join(records, "..", "aside"));
      await new Promise(setImmediate);
      renameSync(join(records, "..", "aside"), join(records, "app-2"));
      await new Promise(setImmediate);
    }
    isDone = true;
  })();
  while (!isDone) {
    const found = await listRecords(join(repository.path, ".git"));
    expect(found.map(({ path }) => path)).toContain(spec().path);
  }
  await dropping;
});

async function standing() {
  const world = worktreeWorld();
  await world.workspace.create(world.spec());
  return { ...world, world };
}
