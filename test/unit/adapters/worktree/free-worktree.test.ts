import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { memoryLocks } from "../../../../src/adapters/memory/locks.ts";
import { gitWorktrees } from "../../../../src/adapters/worktree/git-worktrees.ts";
import type { SessionId } from "../../../../src/domain/ids.ts";
import type { WorkspaceFinding } from "../../../../src/domain/workspace-finding.ts";
import type { ProcessUse } from "../../../../src/ports/process-table.ts";
import { GIT_ENV, gitIn, gitRepository, writeIn } from "../../../support/git-repository.ts";
import { tempDir } from "../../../support/temp-dir.ts";
import { failure, filesBelow, gitWrapper, traces, worktreeWorld } from "./worktree-world.ts";

/** A session's worktree, and a process table whose every look can be made to do something. */
async function opened(onLook: (folder: string) => readonly ProcessUse[] = () => []) {
  const state = { onLook };
  const processes = { usersOf: async (folder: string) => state.onLook(folder) };
  const world = worktreeWorld(gitRepository(), { processes });
  const { path } = await world.workspace.create(world.spec());
  return { ...world, path, state };
}

/** Leaves what a removal that was killed leaves. */
function hold(path: string, trashDir: string): void {
  mkdirSync(trashDir, { recursive: true });
  renameSync(path, join(trashDir, "app-1.held"));
}

describe("destroy", () => {
  test("leaves nothing once the trash is swept: no folder, no record, no empty parents; the branch stays", async () => {
    const world = worktreeWorld();
    const before = traces(world);
    await world.workspace.create(world.spec());
    await world.workspace.destroy(world.spec());
    await world.workspace.sweepTrash();
    expect(traces(world)).toEqual({ ...before, branches: expect.stringContaining("refs/heads/feat/1") });
    expect(filesBelow(world.dataDir)).toEqual(["trash", "worktrees"]);
    expect(existsSync(join(world.repository.path, ".git", "worktrees"))).toBe(false);
  });

  test("keeps the worktree byte for byte when it holds work, and says what", async () => {
    const { workspace, spec, path, repository } = await opened();
    writeIn(path, "readme.md", "changed\n");
    writeIn(path, "new.txt", "new\n");
    const before = [filesBelow(path), gitIn(path, "status", "--porcelain"), repository.worktrees()];
    const error = await failure(workspace.destroy(spec()), "workspace_dirty");
    const findings = error.details["findings"] as readonly WorkspaceFinding[];
    expect(findings.map(({ kind }) => kind)).toEqual(["changed", "untracked"]);
    expect(error.message).toContain("1 changed file: readme.md; 1 untracked file: new.txt");
    expect([filesBelow(path), gitIn(path, "status", "--porcelain"), repository.worktrees()]).toEqual(before);
    expect(readFileSync(join(path, "new.txt"), "utf8")).toBe("new\n");
  });

  test("tells of kept work no more where a process alone is in the way", async () => {
    const users: ProcessUse[] = [];
    const { workspace, spec, path } = await opened(() => users);
    writeIn(path, "readme.md", "changed\n");
    users.push({ pid: 7, command: "sleep 600", paths: [path] });
    const kindsOf = async (isKept?: () => Promise<boolean>) => {
      const error = await failure(workspace.destroy(spec(), undefined, isKept), "workspace_dirty");
      return (error.details["findings"] as readonly WorkspaceFinding[]).map(({ kind }) => kind);
    };
    expect(await kindsOf()).toEqual(["changed", "in_use"]);
    expect(await kindsOf(async () => true)).toEqual(["in_use"]);
  });

  test.each<[string, (path: string, trash: string) => void, readonly string[]]>([
    ["that an interrupted removal moved aside", hold, ["feat/2"]],
    ["on a branch without a commit", (path) => gitIn(path, "switch", "-q", "--orphan", "void"), []],
  ])("tells the branch of a worktree %s", async (_name, bringAbout, told) => {
    const { workspace, spec, path, trashDir } = await opened();
    gitIn(path, "switch", "-qc", "feat/2");
    bringAbout(path, trashDir);
    const branches: string[] = [];
    await workspace.destroy(spec(), (branch) => branches.push(branch));
    expect(branches).toEqual(told);
  });

  test("drops its own record, and no other's", async () => {
    const { workspace, spec, repository } = await opened();
    const stranger = join(tempDir("ao-stranger"), "stranger");
    repository.git("worktree", "add", "-q", "-b", "stranger", stranger);
    rmSync(stranger, { recursive: true });
    await workspace.destroy(spec());
    expect(repository.worktrees()).toEqual([repository.path, stranger]);
  });

  test("leaves the files in the trash, which a sweep deletes", async () => {
    const { workspace, spec, path, trashDir } = await opened();
    await workspace.destroy(spec());
    expect(existsSync(path)).toBe(false);
    expect(readdirSync(trashDir)).toEqual([expect.stringMatching(/^app-1\.\d+\.[0-9a-f-]+\.gone$/)]);
    expect((await workspace.sweepTrash()).deleted).toBe(1);
    expect(readdirSync(trashDir)).toEqual([]);
  });

  test("removes links, never what they lead to", async () => {
    const { workspace, spec, path, repository } = await opened();
    const outside = tempDir("ao-outside");
    writeIn(outside, "kept.txt", "x");
    repository.git("config", "core.excludesFile", join(outside, "ignore"));
    writeIn(outside, "ignore", ".next/\n");
    mkdirSync(join(path, ".next"));
    symlinkSync(outside, join(path, ".next", "link"));
    await workspace.destroy(spec());
    expect(existsSync(path)).toBe(false);
    expect(existsSync(join(outside, "kept.txt"))).toBe(true);
  });

  test("sees what is written between its look and the move, and puts all back", async () => {
    const { workspace, spec, path, state, repository } = await opened();
    state.onLook = (folder) => {
      if (folder === path) writeIn(path, "late.txt", "just in time\n");
      return [];
    };
    const error = await failure(workspace.destroy(spec()), "workspace_dirty");
    expect(error.message).toContain("late.txt");
    expect(readFileSync(join(path, "late.txt"), "utf8")).toBe("just in time\n");
    expect(gitIn(path, "status", "--porcelain")).toBe("?? late.txt");
    expect(repository.worktrees()).toEqual([repository.path, path]);
  });

  test("sees a process that comes in between its look and the move", async () => {
    const { workspace, spec, path, state } = await opened();
    state.onLook = (folder) => (folder === path ? [] : [{ pid: 7, command: "vim", paths: [folder] }]);
    await failure(workspace.destroy(spec()), "workspace_dirty");
    expect(existsSync(path)).toBe(true);
  });

  test("refuses when another thing takes the place between its look and the move", async () => {
    const { workspace, spec, path, state } = await opened();
    state.onLook = () => {
      if (existsSync(`${path}.away`)) return [];
      renameSync(path, `${path}.away`);
      writeIn(path, "precious.txt", "x");
      return [];
    };
    await failure(workspace.destroy(spec()), "workspace_unsafe_path");
    expect(existsSync(join(path, "precious.txt"))).toBe(true);
  });

  test("says so when git keeps the record", async () => {
    const gitPath = gitWrapper('case " $* " in *" worktree remove "*) echo "fatal: no" >&2; exit 128;; esac');
    const world = worktreeWorld(gitRepository(), { gitPath });
    await world.workspace.create(world.spec());
    await failure(world.workspace.destroy(world.spec()), "git_failed");
    expect(world.repository.worktrees()).toContain(world.spec().path);
    const { managedRoot, trashDir, processes } = world;
    const healthy = gitWorktrees({ managedRoot, trashDir, processes, locks: memoryLocks(), env: GIT_ENV });
    await healthy.destroy(world.spec());
    expect(world.repository.worktrees()).toEqual([world.repository.path]);
  });

  test.each(["status", "ls-files", "rev-list"])("keeps the worktree when git %s fails", async (command) => {
    const flag = join(tempDir("ao-flag"), "fail");
    const gitPath = gitWrapper(
      `case " $* " in *" ${command} "*) [ -e '${flag}' ] && { echo "fatal: broken" >&2; exit 128; };; esac`,
    );
    const { workspace, spec } = worktreeWorld(gitRepository(), { gitPath });
    await workspace.create(spec());
    writeIn(join(flag, ".."), "fail", "");
    const error = await failure(workspace.destroy(spec()), "workspace_dirty");
    expect(error.details["findings"]).toMatchObject([{ kind: "unreadable" }]);
    expect(existsSync(spec().path)).toBe(true);
  });

  test("several at once of one session free it once, without an error", async () => {
    const { workspace, spec, path, repository } = await opened();
    await Promise.all([1, 2, 3, 4].map(() => workspace.destroy(spec())));
    expect(existsSync(path)).toBe(false);
    expect(repository.worktrees()).toEqual([repository.path]);
  });

  test("the agent's own branches all stay when it switched", async () => {
    const { workspace, spec, path, repository } = await opened();
    gitIn(path, "switch", "-qc", "other");
    gitIn(path, "commit", "-qm", "work", "--allow-empty");
    await workspace.destroy(spec());
    expect(repository.branches()).toEqual(["feat/1", "main", "other"]);
  });
});

describe("an interrupted removal", () => {
  /** The state that a kill between the move and the second look leaves. */
  async function interrupted(work: boolean) {
    const world = await opened();
    if (work) writeIn(world.path, "work.txt", "x");
    hold(world.path, world.trashDir);
    return world;
  }

  test("is looked into where it lies", async () => {
    const { workspace, spec } = await interrupted(true);
    expect(await workspace.inspect(spec())).toMatchObject([{ kind: "untracked", items: ["work.txt"] }]);
  });

  test("comes back with its work by destroy and by restore", async () => {
    for (const method of ["destroy", "restore"] as const) {
      const { workspace, spec, path, trashDir } = await interrupted(true);
      await workspace[method](spec()).catch(() => undefined);
      expect(readFileSync(join(path, "work.txt"), "utf8")).toBe("x");
      expect(filesBelow(trashDir)).toEqual([]);
    }
  });

  test("is finished when there is no work", async () => {
    const { workspace, spec, repository, trashDir } = await interrupted(false);
    await workspace.destroy(spec());
    expect(repository.worktrees()).toEqual([repository.path]);
    expect((await workspace.sweepTrash()).deleted).toBe(1);
    expect(filesBelow(trashDir)).toEqual([]);
  });
});

test("a hint can be pasted, whatever the path holds", async () => {
  const managedRoot = join(tempDir("ao-it's $HOME"), "worktrees");
  const { workspace, spec } = worktreeWorld(gitRepository(), { managedRoot });
  const { path } = await workspace.create(spec());
  writeIn(path, "work.txt", "mine");
  const { hint } = await failure(workspace.destroy(spec()), "workspace_dirty");
  const said = execFileSync("/bin/sh", ["-c", `${hint}`], { encoding: "utf8", env: GIT_ENV });
  expect(said).toContain("work.txt");
});

describe("undoCreate", () => {
  test("keeps a branch that moved, and one that is checked out elsewhere", async () => {
    const { workspace, spec, repository } = worktreeWorld();
    const first = await workspace.create(spec());
    gitIn(first.path, "commit", "-qm", "work", "--allow-empty");
    await workspace.undoCreate(spec(), first);
    expect(repository.branches()).toContain("feat/1");

    const other = spec({ sessionId: "app-2" as SessionId, branch: "feat/2" });
    const second = await workspace.create(other);
    gitIn(second.path, "switch", "-qc", "elsewhere");
    repository.git("switch", "-q", "feat/2");
    await workspace.undoCreate(other, second);
    expect(repository.branches()).toContain("feat/2");
  });

  test("undoes what post-create put there, and is idempotent", async () => {
    const world = worktreeWorld();
    const before = traces(world);
    writeIn(world.repository.path, ".git/info/exclude", ".env\n");
    writeIn(world.repository.path, ".env", "x");
    const postCreate = { copy: [".env"], commands: ["echo x >made.txt"] };
    const created = await world.workspace.create(world.spec({ postCreate }));
    await world.workspace.undoCreate(world.spec(), created);
    await world.workspace.undoCreate(world.spec(), created);
    rmSync(join(world.repository.path, ".env"));
    expect(traces(world)).toEqual(before);
  });
});

describe("restore", () => {
  test("takes what is there whatever is checked out, and changes nothing", async () => {
    const { workspace, spec, path } = await opened();
    gitIn(path, "switch", "-qc", "other");
    writeIn(path, "readme.md", "changed\n");
    const head = gitIn(path, "rev-parse", "HEAD");
    const restored = await workspace.restore(spec());
    expect(restored).toEqual({
      path,
      branch: "other",
      branchCreated: false,
      baseRef: "other",
      baseCommit: head,
      warnings: [],
    });
    expect(gitIn(path, "status", "--porcelain")).toBe(" M readme.md");
    gitIn(path, "checkout", "-q", "--detach");
    expect((await workspace.restore(spec())).branch).toBe("feat/1");
  });

  test("makes it again from the branch with the commits it has by now", async () => {
    const { workspace, spec, path, repository } = await opened();
    gitIn(path, "commit", "-qm", "work", "--allow-empty");
    const commit = repository.git("rev-parse", "feat/1");
    await workspace.destroy(spec());
    expect(await workspace.restore(spec())).toMatchObject({ baseCommit: commit, baseRef: "feat/1" });
    expect(gitIn(path, "rev-parse", "HEAD")).toBe(commit);
  });

  test("asks git once what the plan has asked already", async () => {
    const log = join(tempDir("ao-log"), "calls");
    const world = worktreeWorld(gitRepository(), { gitPath: gitWrapper(`echo "$*" >>'${log}'`) });
    const { workspace, spec } = world;
    await workspace.create(spec());
    await workspace.destroy(spec());
    rmSync(log);
    await workspace.restore(spec(), await workspace.planRestore(spec()));
    const calls = readFileSync(log, "utf8").split("\n");
    for (const question of ["--git-common-dir", "check-ref-format", "for-each-ref"]) {
      expect(
        calls.filter((call) => call.includes(question)),
        question,
      ).toHaveLength(1);
    }
  });

  test("with folder and branch gone it is refused, and nothing is made", async () => {
    const world = await opened();
    rmSync(world.path, { recursive: true });
    world.repository.git("worktree", "prune");
    world.repository.git("branch", "-qD", "feat/1");
    const before = traces(world);
    await failure(world.workspace.restore(world.spec()), "branch_missing");
    expect(traces(world)).toEqual(before);
  });

  test("of a damaged one it says how to repair it, and does not touch it", async () => {
    const { workspace, spec, path } = await opened();
    writeIn(path, "work.txt", "x");
    rmSync(join(path, ".git"));
    const error = await failure(workspace.restore(spec()), "git_failed");
    expect(error.hint).toContain("worktree repair");
    expect(existsSync(join(path, "work.txt"))).toBe(true);
  });

  test("a failing post-create step undoes what restore made and leaves the branch", async () => {
    const { workspace, spec, repository } = await opened();
    await workspace.destroy(spec());
    const restore = workspace.restore(spec({ postCreate: { commands: ["exit 1"] } }));
    await failure(restore, "post_create_failed");
    expect(repository.worktrees()).toEqual([repository.path]);
    expect(repository.branches()).toContain("feat/1");
  });
});

test("a worktree with work goes only once somebody says that all of it is kept", async () => {
  const { workspace, spec } = worktreeWorld();
  const { path } = await workspace.create(spec());
  writeIn(path, "notes.txt", "mine");
  await failure(
    workspace.destroy(spec(), undefined, async () => false),
    "workspace_dirty",
  );
  expect(existsSync(join(path, "notes.txt"))).toBe(true);
  await workspace.destroy(spec(), undefined, async () => true);
  expect(existsSync(path)).toBe(false);
});

test("a worktree that a link leads out of the managed root at the last moment is not moved", async () => {
  const { workspace, spec, managedRoot } = worktreeWorld();
  await workspace.create(spec());
  const [inside, outside] = [join(managedRoot, "app"), join(tempDir("ao-outside"), "app")];
  const leadOut = () => {
    renameSync(inside, outside);
    symlinkSync(outside, inside);
  };
  await failure(workspace.destroy(spec(), leadOut), "workspace_unsafe_path");
  expect(existsSync(join(outside, "app-1", "readme.md"))).toBe(true);
});
