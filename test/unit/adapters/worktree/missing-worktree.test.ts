import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { gitIn, gitRepository, writeIn } from "../../../support/git-repository.ts";
import { tempDir } from "../../../support/temp-dir.ts";
import { failure, gitDirOf, worktreeWorld } from "./worktree-world.ts";

async function opened(options: Parameters<typeof worktreeWorld>[1] = {}) {
  const world = worktreeWorld(gitRepository(), options);
  const { path } = await world.workspace.create(world.spec());
  return { ...world, path, away: join(tempDir("ao-moved"), "moved") };
}

type Opened = Awaited<ReturnType<typeof opened>>;

/** A commit that only the worktree's own log of HEAD has. */
function commitLoosely({ path }: Opened): void {
  gitIn(path, "checkout", "-q", "--detach");
  gitIn(path, "commit", "-qm", "loose", "--allow-empty");
}

const move = ({ path, away }: Opened) => renameSync(path, away);

describe("a worktree whose folder somebody has", () => {
  test.each<[string, (it: Opened) => void, readonly string[]]>([
    ["moved away", move, ["missing"]],
    ["deleted", ({ path }) => rmSync(path, { recursive: true }), ["missing"]],
    [
      "replaced by an empty one",
      (it) => {
        move(it);
        mkdirSync(it.path);
      },
      ["missing"],
    ],
    [
      "moved away after something was staged",
      (it) => {
        writeIn(it.path, "new.txt", "x");
        gitIn(it.path, "add", "new.txt");
        move(it);
      },
      ["missing", "staged"],
    ],
    [
      "deleted after a commit on no branch",
      (it) => {
        commitLoosely(it);
        rmSync(it.path, { recursive: true });
      },
      ["missing", "unreachable_commits"],
    ],
  ])("%s is missing and not freed, and git keeps its record", async (_how, take, kinds) => {
    const it = await opened();
    const { workspace, spec, path, repository } = it;
    const gitDir = gitDirOf(path);
    take(it);
    expect((await workspace.inspect(spec())).map(({ kind }) => kind)).toEqual(kinds);
    const error = await failure(
      workspace.destroy(spec(), undefined, async () => true),
      "workspace_dirty",
    );
    expect(error.message).toContain(`${path} is not freed: its folder is not there`);
    expect(error.hint).toContain(`git -C ${repository.path} worktree repair`);
    expect(readdirSync(gitDir)).toEqual(expect.arrayContaining(["HEAD", "index", "logs", "ao.json"]));
  });

  test("moved away is whole again once it is moved back", async () => {
    const it = await opened();
    commitLoosely(it);
    const commit = gitIn(it.path, "rev-parse", "HEAD");
    move(it);
    await failure(it.workspace.destroy(it.spec()), "workspace_dirty");
    renameSync(it.away, it.path);
    expect(gitIn(it.path, "rev-parse", "HEAD")).toBe(commit);
    gitIn(it.path, "branch", "kept");
    await it.workspace.destroy(it.spec());
    expect(it.repository.worktrees()).toEqual([it.repository.path]);
  });

  test("deleted is gone once git was told to forget it", async () => {
    const { workspace, spec, path, repository } = await opened();
    rmSync(path, { recursive: true });
    await failure(workspace.destroy(spec()), "workspace_dirty");
    repository.git("worktree", "prune");
    expect(await workspace.inspect(spec())).toEqual([]);
    await workspace.destroy(spec());
  });
});

describe("a worktree that was moved is never touched, and it is said where it is", () => {
  test.each<[string, (it: Opened) => string]>([
    [
      "with git",
      ({ repository, path, away }) => {
        repository.git("worktree", "move", path, away);
        return away;
      },
    ],
    [
      "within its folder",
      ({ path }) => {
        renameSync(path, `${path}.old`);
        return `${path}.old`;
      },
    ],
    [
      "by hand, and git was told",
      (it) => {
        move(it);
        it.repository.git("worktree", "repair", it.away);
        return it.away;
      },
    ],
  ])("%s", async (_how, moved) => {
    const it = await opened();
    const { workspace, spec, path, repository } = it;
    writeIn(path, "work.txt", "mine");
    const there = moved(it);
    const before = repository.worktrees();
    const error = await failure(workspace.destroy(spec()), "workspace_unsafe_path");
    expect(error.message).toContain(`it was moved to ${there}`);
    expect(error.details).toEqual({ path, movedTo: there });
    expect(error.hint).toMatch(/^(mv|git -C \S+ worktree move) \S+ \S+$/);
    expect(repository.worktrees()).toEqual(before);
    expect(readFileSync(join(there, "work.txt"), "utf8")).toBe("mine");
  });
});

describe("a removal that was broken off over its record", () => {
  /** Leaves what a removal leaves that ends when git is to drop the record. */
  async function brokenOff() {
    const it = await opened();
    const { trashDir, path } = it;
    const { createdAtMs } = JSON.parse(readFileSync(join(gitDirOf(path), "ao.json"), "utf8"));
    const going = join(trashDir, `app-1.${createdAtMs}.going`);
    mkdirSync(trashDir, { recursive: true });
    renameSync(path, going);
    return { ...it, going };
  }

  test("is told from a folder that was moved away, and finished", async () => {
    const { workspace, spec, repository, trashDir } = await brokenOff();
    expect(await workspace.inspect(spec())).toEqual([]);
    await workspace.destroy(spec());
    expect(repository.worktrees()).toEqual([repository.path]);
    expect(readdirSync(trashDir)).toEqual([expect.stringMatching(/\.gone$/)]);
  });

  test("is not swept while git has the record, and is found by its mark", async () => {
    const { workspace, spec, going } = await brokenOff();
    expect((await workspace.sweepTrash()).deleted).toBe(0);
    expect(await workspace.marked()).toMatchObject([
      { ref: { sessionId: "app-1", path: spec().path }, flaw: null },
    ]);
    expect(readdirSync(going)).toContain("readme.md");
  });

  test("is swept when git has none any more", async () => {
    const { workspace, repository, trashDir } = await brokenOff();
    repository.git("worktree", "prune");
    expect(await workspace.marked()).toEqual([]);
    expect((await workspace.sweepTrash()).deleted).toBe(1);
    expect(readdirSync(trashDir)).toEqual([]);
  });

  test("proves nothing of a worktree that was made later and moved away", async () => {
    const it = await brokenOff();
    it.repository.git("worktree", "prune");
    await it.workspace.restore(it.spec());
    move(it);
    await failure(it.workspace.destroy(it.spec()), "workspace_dirty");
  });
});
