import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { describe, expect, onTestFinished, test } from "vitest";
import { memoryProcessTable } from "../../../../src/adapters/memory/process-table.ts";
import { systemProcessTable } from "../../../../src/adapters/processes/system-process-table.ts";
import type { SessionId } from "../../../../src/domain/ids.ts";
import { gitExit, gitIn, gitRepository, writeIn } from "../../../support/git-repository.ts";
import { tempDir } from "../../../support/temp-dir.ts";
import { failure, gitDirOf, gitWrapper, itemsByKind, worktreeWorld } from "./worktree-world.ts";

const IGNORE = [
  ".env*",
  "*.db",
  "*.log",
  "*.pem",
  "id_*",
  "*.pyc",
  "node_modules/",
  "dist/",
  "build/",
  "target/",
  ".venv/",
  "myenv/",
  "data/",
  ".DS_Store",
];

/** A session's worktree on a repository with a usual .gitignore. */
async function opened() {
  const repository = gitRepository();
  repository.commit(".gitignore", `${IGNORE.join("\n")}\n`);
  repository.commit("f.txt", "one\n");
  repository.commit("Cargo.toml", "");
  const world = worktreeWorld(repository);
  const { path } = await world.workspace.create(world.spec());
  const look = async () => itemsByKind(await world.workspace.inspect(world.spec()));
  return { ...world, path, look, git: (...args: readonly string[]) => gitIn(path, ...args) };
}

describe("files", () => {
  test("changed, deleted, staged and untracked ones are found, each by its name", async () => {
    const { path, look, git } = await opened();
    writeIn(path, "f.txt", "two\n");
    rmSync(join(path, "readme.md"));
    writeIn(path, "staged.txt", "x");
    git("add", "staged.txt");
    writeIn(path, 'new dir/an odd\n"näme".txt', "x");
    writeIn(path, "-rf", "x");
    expect(await look()).toEqual({
      changed: ["f.txt", "readme.md"],
      staged: ["staged.txt"],
      untracked: ["-rf", 'new dir/an odd\n"näme".txt'],
    });
  });

  test("a finding says how many in all and names twenty at most", async () => {
    const { workspace, spec, path } = await opened();
    for (let at = 0; at < 25; at += 1) writeIn(path, `new-${at}.txt`, "x");
    const [finding] = await workspace.inspect(spec());
    expect(finding).toMatchObject({ kind: "untracked", count: 25 });
    expect(finding?.items).toHaveLength(20);
    expect(finding?.detail).toMatch(/^25 untracked files: new-0\.txt, /);
  });

  test.each([
    "status.showUntrackedFiles=no",
    "core.untrackedCache=true",
    "core.quotePath=true",
    "status.renames=copies",
  ])("%s in the configuration hides nothing", async (setting) => {
    const { path, look, git } = await opened();
    const [name = "", value = ""] = setting.split("=");
    git("config", name, value);
    git("mv", "f.txt", "moved.txt");
    writeIn(path, "ü.txt", "x");
    expect(await look()).toEqual({ staged: ["f.txt", "moved.txt"], untracked: ["ü.txt"] });
  });

  test.each(["--assume-unchanged", "--skip-worktree"])("a change behind %s is found", async (flag) => {
    const { path, look, git } = await opened();
    git("update-index", flag, "f.txt");
    expect(await look()).toEqual({});
    writeIn(path, "f.txt", "two\n");
    expect(git("status", "--porcelain")).toBe("");
    expect(await look()).toEqual({ changed: ["f.txt"] });
  });

  test("a hidden change to a file whose name ends in a carriage return is found", async () => {
    const { path, look, git } = await opened();
    writeIn(path, "a", "x\n");
    writeIn(path, "a\r", "x\n");
    git("add", "a", "a\r");
    git("commit", "-qm", "two names");
    git("update-index", "--assume-unchanged", "a\r");
    writeIn(path, "a\r", "work\n");
    expect(await look()).toEqual({ changed: ["a\r"] });
  });

  test("a sparse checkout leaves files out and that is no change", async () => {
    const { look, git } = await opened();
    git("sparse-checkout", "set", "--no-cone", "readme.md");
    expect(await look()).toEqual({});
  });

  test("a folder that git could not open is a finding, although git exits with 0", async () => {
    const gitPath = gitWrapper(
      'case " $* " in *" status "*) echo "warning: could not open directory \'x/\': Permission denied" >&2;; esac',
    );
    const { workspace, spec } = worktreeWorld(gitRepository(), { gitPath });
    await workspace.create(spec());
    expect(itemsByKind(await workspace.inspect(spec()))).toEqual({
      unreadable: ["warning: could not open directory 'x/': Permission denied"],
    });
  });
});

describe("ignored files", () => {
  test.each([
    "node_modules/lib/index.js",
    "node_modules/lib/cert.pem",
    "packages/a/node_modules/x.db",
    "dist/app.js",
    "build/deep/app.o",
    "target/debug/app",
    ".venv/lib/cacert.pem",
    "myenv/pyvenv.cfg",
    "src/__pycache__/a.pyc",
    "src/b.pyc",
    ".DS_Store",
  ])("%s comes back by itself and is no work", async (file) => {
    const { path, look } = await opened();
    writeIn(path, file, "x");
    expect(await look()).toEqual({});
  });

  test.each([
    ".env",
    ".env.local",
    "app.db",
    "debug.log",
    "data/deep/notes.txt",
    "build/.env",
    "dist/dev.db",
    "target/server.pem",
    "build/id_ed25519",
  ])("%s would be lost", async (file) => {
    const { path, look } = await opened();
    writeIn(path, file, "x");
    expect(await look()).toEqual({ ignored: [file] });
  });

  test("a link in an ignored folder is one item and is not followed", async () => {
    const { path, look } = await opened();
    mkdirSync(join(path, "data"));
    symlinkSync("/", join(path, "data", "root"));
    expect(await look()).toEqual({ ignored: ["data/root"] });
  });
});

describe("commits", () => {
  test("those of the session's branch and of any other are safe", async () => {
    const { path, look, git } = await opened();
    writeIn(path, "a.txt", "x");
    git("add", ".");
    git("commit", "-qm", "on the branch");
    git("switch", "-qc", "other");
    git("commit", "-qm", "on another", "--allow-empty");
    expect(await look()).toEqual({});
  });

  test("one on a detached HEAD is lost, and held again once a branch or tag has it", async () => {
    const { look, git } = await opened();
    git("checkout", "-q", "--detach");
    git("commit", "-qm", "loose", "--allow-empty");
    const commit = git("rev-parse", "HEAD");
    expect(await look()).toEqual({ unreachable_commits: [commit] });
    git("tag", "held");
    expect(await look()).toEqual({});
  });

  test("one that was made detached and left behind is lost", async () => {
    const { look, git } = await opened();
    git("checkout", "-q", "--detach");
    git("commit", "-qm", "loose", "--allow-empty");
    const commit = git("rev-parse", "HEAD");
    git("checkout", "-q", "feat/1");
    expect(await look()).toEqual({ unreachable_commits: [commit] });
  });

  test("what an amend, a reset or a rebase leaves behind is in the branch's log and safe", async () => {
    const { look, git } = await opened();
    for (const message of ["1", "2", "3", "4"]) git("commit", "-qm", message, "--allow-empty");
    git("commit", "-q", "--amend", "-m", "5", "--allow-empty");
    git("reset", "-q", "--hard", "HEAD~1");
    git("-c", "sequence.editor=sed -i '2s/pick/squash/;3s/pick/fixup/'", "rebase", "-qi", "HEAD~3");
    expect(await look()).toEqual({});
  });

  test("one of a deleted branch is lost", async () => {
    const { look, git } = await opened();
    git("switch", "-qc", "tmp");
    git("commit", "-qm", "tmp", "--allow-empty");
    const commit = git("rev-parse", "HEAD");
    git("switch", "-q", "feat/1");
    git("branch", "-qD", "tmp");
    expect(await look()).toEqual({ unreachable_commits: [commit] });
  });

  test("one that only a ref of this worktree holds is lost", async () => {
    const { look, git } = await opened();
    const commit = git("commit-tree", "-m", "x", "HEAD^{tree}");
    git("update-ref", "refs/worktree/mine", commit);
    expect(await look()).toEqual({ unreachable_commits: [commit] });
  });

  test("on a new branch without commits the files count", async () => {
    const { look, git } = await opened();
    git("checkout", "-q", "--orphan", "empty");
    expect(await look()).toEqual({ staged: [".gitignore", "Cargo.toml", "f.txt", "readme.md"] });
  });

  test("a repository without any branch is no trouble", async () => {
    const { look, git, repository } = await opened();
    const commit = git("rev-parse", "HEAD");
    git("checkout", "-q", "--detach");
    repository.git("checkout", "-q", "--detach");
    git("branch", "-qD", "main", "feat/1");
    expect((await look())["unreachable_commits"]).toContain(commit);
  });

  test("a stash belongs to the repository and is safe", async () => {
    const { path, look, git } = await opened();
    writeIn(path, "f.txt", "two\n");
    git("stash", "-q");
    expect(await look()).toEqual({});
  });
});

describe("operations under way", () => {
  test.each<[string, readonly string[]]>([
    ["merge", ["merge", "-q", "theirs"]],
    ["rebase", ["rebase", "-q", "theirs"]],
    ["rebase or am", ["rebase", "-q", "--apply", "theirs"]],
    ["cherry-pick", ["cherry-pick", "theirs"]],
    ["revert", ["revert", "--no-edit", "HEAD~1"]],
    ["bisect", ["bisect", "start", "HEAD", "HEAD~1"]],
  ])("a %s", async (operation, command) => {
    const { path, look, git } = await opened();
    git("switch", "-qc", "theirs");
    writeIn(path, "f.txt", "theirs\n");
    git("commit", "-qam", "theirs");
    git("switch", "-q", "feat/1");
    for (const text of ["ours\n", "ours again\n"]) {
      writeIn(path, "f.txt", text);
      git("commit", "-qam", text);
    }
    gitExit(path, ...command);
    expect((await look())["operation_in_progress"]).toEqual([operation]);
  });
});

describe("what keeps it from being touched", () => {
  test("a lock with its reason", async () => {
    const { path, look, git } = await opened();
    git("worktree", "lock", "--reason", "on a stick", path);
    expect(await look()).toEqual({ locked: ["on a stick"] });
  });

  test("a process that works in it", async () => {
    const { path, look, processes } = await opened();
    processes.add({ pid: 4242, command: "vim", cwd: join(path, "src") });
    processes.add({ pid: 4243, command: "bash", cwd: `${path}-other` });
    expect(await look()).toEqual({ in_use: ["4242 vim in src"] });
  });

  test("a process of this machine that works in it keeps it", async () => {
    const { workspace, spec } = worktreeWorld(gitRepository(), { processes: systemProcessTable() });
    const { path } = await workspace.create(spec());
    const sleep = execa("sleep", ["60"], { cwd: path, reject: false });
    onTestFinished(() => void sleep.kill("SIGKILL"));
    const error = await failure(workspace.destroy(spec()), "workspace_dirty");
    expect(error.details["findings"]).toMatchObject([{ kind: "in_use", items: [`${sleep.pid} sleep`] }]);
    sleep.kill("SIGKILL");
    await sleep;
    await workspace.destroy(spec());
  });

  test("a git that looks at it for a moment does not", async () => {
    const table = memoryProcessTable();
    const { workspace, spec } = worktreeWorld(gitRepository(), {
      processes: {
        usersOf: async (folder) => {
          const users = await table.usersOf(folder);
          table.kill(4242);
          return users;
        },
      },
    });
    const { path } = await workspace.create(spec());
    table.add({ pid: 4242, command: "git status", cwd: path });
    expect(await workspace.inspect(spec())).toEqual([]);
  });

  test("a process table that cannot be read", async () => {
    const { workspace, spec } = worktreeWorld(gitRepository(), {
      processes: { usersOf: () => Promise.reject(new Error("no /proc")) },
    });
    await workspace.create(spec());
    expect(itemsByKind(await workspace.inspect(spec()))).toEqual({
      unreadable: ["processes in it: no /proc"],
    });
  });

  test("an index.lock, with its age", async () => {
    const { path, look } = await opened();
    const lock = join(gitDirOf(path), "index.lock");
    writeFileSync(lock, "");
    const anHourAgo = Date.now() / 1000 - 3600;
    utimesSync(lock, anHourAgo, anHourAgo);
    expect((await look())["unreadable"]).toEqual([
      expect.stringMatching(/index\.lock is held for 36\d\d s$/),
    ]);
  });

  test.each<[string, (path: string) => void, RegExp]>([
    ["a damaged .git file", (path) => writeFileSync(join(path, ".git"), "garbage"), /damaged/],
    ["a missing .git file", (path) => rmSync(join(path, ".git")), /missing/],
    ["a damaged index", (path) => writeFileSync(join(gitDirOf(path), "index"), "garbage"), /index/],
    ["a damaged HEAD", (path) => writeFileSync(join(gitDirOf(path), "HEAD"), "garbage"), /status|index/],
  ])("%s", async (_name, damage, message) => {
    const { path, look } = await opened();
    damage(path);
    expect((await look())["unreadable"]).toEqual(expect.arrayContaining([expect.stringMatching(message)]));
  });

  test("a repository that is gone", async () => {
    const { repository, look, workspace, spec, path } = await opened();
    renameSync(repository.path, `${repository.path}.away`);
    expect((await look())["unreadable"]).toEqual([expect.stringContaining("cannot be opened")]);
    await failure(workspace.destroy(spec()), "workspace_dirty");
    rmSync(path, { recursive: true });
    expect(await look()).toEqual({});
  });

  test("git missing is an error, not a finding", async () => {
    const { spec, managedRoot, trashDir, repository } = await opened();
    const { workspace } = worktreeWorld(repository, { managedRoot, trashDir, gitPath: "/nonexistent/git" });
    await failure(workspace.inspect(spec()), "git_unavailable");
    await failure(workspace.destroy(spec()), "git_unavailable");
  });
});

test("of a folder that was deleted by hand the staged work is not dropped for a new one", async () => {
  const { path, git, workspace, spec } = await opened();
  writeIn(path, "new.txt", "x");
  git("add", "new.txt");
  const gitDir = gitDirOf(path);
  rmSync(path, { recursive: true });
  const error = await failure(workspace.restore(spec()), "workspace_exists");
  expect(error.hint).toBe(`see what it is: git --git-dir=${gitDir} diff --cached`);
  expect(gitIn("/", `--git-dir=${gitDir}`, "diff", "--cached", "--name-only")).toBe("new.txt");
});

describe("what is not the session's own worktree", () => {
  test.each<[string, (world: Awaited<ReturnType<typeof opened>>) => Record<string, unknown>]>([
    ["the main working tree", ({ repository }) => ({ path: repository.path })],
    ["a path outside the managed root", () => ({ path: tempDir("ao-outside") })],
    [
      "a main working tree inside the managed root",
      ({ managedRoot }) => {
        const inner = gitRepository(join(managedRoot, "app", "app-5"));
        return { path: inner.path, repositoryPath: inner.path };
      },
    ],
    [
      "a worktree that a person made",
      ({ git, managedRoot }) => {
        const path = join(managedRoot, "app", "mine");
        git("worktree", "add", "-q", "-b", "mine", path);
        return { path };
      },
    ],
    [
      "a folder that is no worktree",
      ({ managedRoot }) => {
        writeIn(join(managedRoot, "app", "plain"), "file", "x");
        return { path: join(managedRoot, "app", "plain") };
      },
    ],
    ["the folder of all of them", ({ managedRoot }) => ({ path: join(managedRoot, "app") })],
    ["another session's", ({ path }) => ({ sessionId: "app-9" as SessionId, path })],
    ["one of another repository", () => ({ repositoryPath: gitRepository().path })],
    [
      "a repository that took its place",
      ({ path }) => {
        rmSync(path, { recursive: true });
        gitRepository(path);
        return {};
      },
    ],
    [
      "a worktree of another repository that took its place",
      ({ path }) => {
        rmSync(path, { recursive: true });
        gitRepository().git("worktree", "add", "-q", "-b", "other", path);
        return {};
      },
    ],
    [
      "a link that took its place",
      ({ path }) => {
        renameSync(path, `${path}-moved`);
        symlinkSync(`${path}-moved`, path);
        return {};
      },
    ],
    [
      "one that a person moved",
      ({ path, git }) => {
        git("worktree", "move", path, join(tempDir("ao-moved"), "moved"));
        return {};
      },
    ],
  ])("%s is refused by every method and left as it is", async (_name, arrange) => {
    const world = await opened();
    const ref = world.spec(arrange(world));
    const before = world.repository.worktrees();
    for (const method of ["inspect", "destroy", "restore"] as const) {
      await failure(world.workspace[method](ref), "workspace_unsafe_path");
    }
    expect(world.repository.worktrees()).toEqual(before);
    expect(gitExit(world.repository.path, "rev-parse", "HEAD")).toBe(0);
  });
});

test("the main working tree is named as the reason, also inside the managed root", async () => {
  const { workspace, spec, managedRoot } = await opened();
  const { path } = gitRepository(join(managedRoot, "app", "app-5"));
  const error = await failure(
    workspace.destroy(spec({ path, repositoryPath: path })),
    "workspace_unsafe_path",
  );
  expect(error.message).toContain("main working tree");
});

test("a look changes nothing, not even the index", async () => {
  const { path, look, git } = await opened();
  const index = join(gitDirOf(path), "index");
  utimesSync(join(path, "f.txt"), 1, 1);
  chmodSync(index, 0o400);
  const before = git("hash-object", "--no-filters", index);
  expect(await look()).toEqual({});
  expect(git("hash-object", "--no-filters", index)).toBe(before);
});
