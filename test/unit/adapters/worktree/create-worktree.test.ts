import { existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { SessionId } from "../../../../src/domain/ids.ts";
import {
  emptyRepository,
  GIT_ENV,
  gitIn,
  gitRepository,
  repositoryAt,
  writeIn,
} from "../../../support/git-repository.ts";
import { tempDir } from "../../../support/temp-dir.ts";
import {
  failure,
  filesBelow,
  gitDirOf,
  gitWrapper,
  hook,
  markerAt,
  traces,
  worktreeWorld,
} from "./worktree-world.ts";

describe("the branch", () => {
  test("a new one starts at the default branch, whatever is checked out", async () => {
    const { repository, workspace, spec } = worktreeWorld();
    const base = repository.git("rev-parse", "main");
    repository.git("switch", "-qc", "other");
    repository.commit("other.txt", "x");
    const created = await workspace.create(spec());
    expect(created).toMatchObject({ baseRef: "main", baseCommit: base, branchCreated: true });
    expect(gitIn(created.path, "rev-parse", "HEAD")).toBe(base);
    expect(gitIn(created.path, "symbolic-ref", "HEAD")).toBe("refs/heads/feat/1");
  });

  test("a base that was asked for is used", async () => {
    const { repository, workspace, spec } = worktreeWorld();
    repository.git("tag", "v1");
    const old = repository.git("rev-parse", "HEAD");
    repository.commit("new.txt", "x");
    expect(await workspace.create(spec({ baseRef: "v1" }))).toMatchObject({ baseRef: "v1", baseCommit: old });
  });

  test.each(["nope", "-rf", "--exec=touch x", "", "main:readme.md", "$(touch x)", "a\0b", "main\nmain"])(
    "an unknown base %j is refused and nothing is left",
    async (baseRef) => {
      const world = worktreeWorld();
      const before = traces(world);
      await failure(world.workspace.create(world.spec({ baseRef })), "branch_missing");
      expect(traces(world)).toEqual(before);
    },
  );

  test("a configured default branch that is not there is refused, not guessed around", async () => {
    const { workspace, spec } = worktreeWorld();
    const error = await failure(workspace.create(spec({ defaultBranch: "develop" })), "branch_missing");
    expect(error.message).toContain("develop");
  });

  test("one that exists is used as it is, and a base then is a warning", async () => {
    const { repository, workspace, spec } = worktreeWorld();
    repository.git("branch", "feat/1");
    const commit = repository.git("rev-parse", "feat/1");
    repository.commit("new.txt", "x");
    const created = await workspace.create(spec({ baseRef: "main" }));
    expect(created).toMatchObject({ branchCreated: false, baseRef: "feat/1", baseCommit: commit });
    expect(created.warnings).toEqual([expect.stringContaining("base main has no effect")]);
  });

  test("one that a tag shares its name with is still the branch", async () => {
    const { repository, workspace, spec } = worktreeWorld();
    repository.git("branch", "feat/1");
    const commit = repository.git("rev-parse", "feat/1");
    repository.commit("new.txt", "x");
    repository.git("tag", "feat/1");
    const { path } = await workspace.create(spec());
    expect(gitIn(path, "rev-parse", "HEAD")).toBe(commit);
    expect(gitIn(path, "symbolic-ref", "HEAD")).toBe("refs/heads/feat/1");
  });

  test.each(["🦄", "x'y\"z;w", "{a,b}", "ünïcode/ß"])(
    "git's own rules hold: %s is a name",
    async (branch) => {
      const { repository, workspace, spec } = worktreeWorld();
      await workspace.create(spec({ branch }));
      expect(repository.branches()).toContain(branch);
    },
  );

  test.each(["`touch x`", "--help", "-", "HEAD", "@{u}", "main@{0}", "a\0b", "x".repeat(300)])(
    "%j is refused, runs nothing and leaves nothing",
    async (branch) => {
      const world = worktreeWorld();
      const before = traces(world);
      await failure(world.workspace.create(world.spec({ branch })), "branch_invalid");
      expect(traces(world)).toEqual(before);
      expect(existsSync(join(world.repository.path, "x"))).toBe(false);
    },
  );

  test.each([
    ["a part of 251 bytes", "x".repeat(251), "refused"],
    ["a part of 250 bytes", `x/${"x".repeat(250)}`, "taken"],
    ["parts of 1001 bytes together", `${"xx/".repeat(333)}xx`, "refused"],
    ["100,000 bytes, of which git dies", "x".repeat(100_000), "refused"],
  ])("one with %s is %3$s", async (_what, branch, outcome) => {
    const world = worktreeWorld();
    const before = traces(world);
    if (outcome === "taken") await world.workspace.create(world.spec({ branch }));
    else {
      const error = await failure(world.workspace.create(world.spec({ branch })), "branch_invalid");
      expect(error.message).toContain("its name is too long");
      expect(traces(world)).toEqual(before);
    }
  });

  test.each([
    ["feat", "feat/1"],
    ["feat/1/x", "feat/1"],
  ])("with branch %s there, %s is refused with the reason", async (existing, branch) => {
    const world = worktreeWorld();
    world.repository.git("branch", existing);
    const before = traces(world);
    const error = await failure(world.workspace.create(world.spec({ branch })), "branch_invalid");
    expect(error.message).toContain(`branch ${existing} exists`);
    expect(traces(world)).toEqual(before);
  });

  test("one that the main working tree has is refused with its path", async () => {
    const { repository, workspace, spec } = worktreeWorld();
    const error = await failure(workspace.create(spec({ branch: "main" })), "branch_in_use");
    expect(error.details["path"]).toBe(repository.path);
  });

  test("one that a rebase elsewhere is working on is refused with its path", async () => {
    const world = worktreeWorld();
    const { repository, workspace, spec } = world;
    repository.git("switch", "-qc", "busy");
    repository.commit("a.txt", "1");
    repository.git("-c", "sequence.editor=sed -i s/pick/edit/", "rebase", "-qi", "main");
    const before = traces(world);
    const error = await failure(workspace.create(spec({ branch: "busy" })), "branch_in_use");
    expect(error.details["path"]).toBe(repository.path);
    expect(traces(world)).toEqual(before);
  });

  test("one held by a worktree that was deleted by hand is refused with the way out", async () => {
    const { repository, workspace, spec } = worktreeWorld();
    const stale = join(tempDir("ao-stale"), "stale");
    repository.git("worktree", "add", "-q", "-b", "feat/1", stale);
    rmSync(stale, { recursive: true });
    const error = await failure(workspace.create(spec()), "branch_in_use");
    expect(error.hint).toContain("worktree prune");
  });
});

describe("the repository", () => {
  test("without commits it is refused with what to do, and nothing is left", async () => {
    const world = worktreeWorld(emptyRepository());
    const error = await failure(world.workspace.create(world.spec()), "repository_empty");
    expect(error.hint).toContain("commit --allow-empty");
    expect(filesBelow(world.managedRoot)).toEqual([]);
    expect(world.repository.worktrees()).toHaveLength(1);
  });

  test("a bare one works, its own HEAD branch included", async () => {
    const source = gitRepository();
    const path = join(tempDir("ao-bare"), "bare.git");
    source.git("clone", "-q", "--bare", source.path, path);
    const bare = repositoryAt(path);
    const { workspace, spec } = worktreeWorld(bare);
    const first = await workspace.create(spec({ postCreate: { copy: [".env"] } }));
    expect(first.warnings).toEqual([expect.stringContaining("is bare")]);
    await workspace.create(spec({ branch: "main", sessionId: "app-2" as SessionId }));
    await workspace.destroy(spec());
    expect(bare.worktrees()).toHaveLength(2);
  });

  test("a linked worktree, a subfolder and a link as its path lead to the same one", async () => {
    const repository = gitRepository();
    mkdirSync(join(repository.path, "sub"));
    const linked = join(tempDir("ao-linked"), "linked");
    repository.git("worktree", "add", "-q", "-b", "linked", linked);
    const link = join(tempDir("ao-link"), "link");
    symlinkSync(repository.path, link);
    const { workspace, spec } = worktreeWorld(repository);
    const starts = [linked, join(repository.path, "sub"), link];
    for (const [at, repositoryPath] of starts.entries()) {
      const sessionId = `app-${at + 1}` as SessionId;
      const { path } = await workspace.create(spec({ repositoryPath, sessionId, branch: `feat/${at}` }));
      expect(repository.worktrees()).toContain(path);
      await workspace.destroy(spec({ repositoryPath, sessionId }));
    }
    expect(repository.worktrees()).toEqual([repository.path, linked]);
  });

  test("one with submodules works; the worktree lacks their files", async () => {
    const repository = gitRepository();
    repository.git("submodule", "add", "-q", gitRepository().path, "lib");
    repository.git("commit", "-qm", "add lib");
    const { workspace, spec } = worktreeWorld(repository);
    const { path } = await workspace.create(spec());
    expect(filesBelow(join(path, "lib"))).toEqual([]);
    expect(await workspace.inspect(spec())).toEqual([]);
    await workspace.destroy(spec());
    expect(existsSync(path)).toBe(false);
  });

  test.each(["GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR"])(
    "%s of the caller does not lead to another one",
    async (name) => {
      const elsewhere = gitRepository();
      const before = elsewhere.git("for-each-ref");
      const value = join(elsewhere.path, ".git", name === "GIT_INDEX_FILE" ? "index" : "");
      const { repository, workspace, spec } = worktreeWorld(gitRepository(), {
        env: { ...GIT_ENV, [name]: value },
      });
      const postCreate = { commands: ["git rev-parse --show-toplevel >top"] };
      const env = { ...GIT_ENV, [name]: value };
      const { path } = await workspace.create(spec({ env, postCreate }));
      expect(repository.worktrees()).toContain(path);
      expect(readFileSync(join(path, "top"), "utf8")).toBe(`${path}\n`);
      await workspace.destroy(spec());
      expect(existsSync(path)).toBe(false);
      expect(elsewhere.git("for-each-ref")).toBe(before);
      expect(elsewhere.git("status", "--porcelain")).toBe("");
    },
  );

  test("a held index.lock, config.lock or packed-refs.lock of the main repository is no obstacle", async () => {
    const { repository, workspace, spec } = worktreeWorld();
    for (const name of ["index.lock", "config.lock", "packed-refs.lock"]) {
      writeFileSync(join(repository.path, ".git", name), "");
    }
    await expect(workspace.create(spec())).resolves.toMatchObject({ branchCreated: true });
  });

  test("a lock on the branch itself is waited for, then named with its age", async () => {
    const world = worktreeWorld();
    const lock = join(world.repository.path, ".git", "refs", "heads", "feat", "1.lock");
    writeIn(join(world.repository.path, ".git", "refs", "heads", "feat"), "1.lock", "");
    const before = traces(world);
    const error = await failure(world.workspace.create(world.spec()), "git_failed");
    expect(error.message).toMatch(/feat\/1\.lock is held for \d+ s$/);
    expect(error.hint).toContain(`rm ${lock}`);
    expect(traces(world)).toEqual(before);
  });

  test("a lock on the branch itself that its holder lets go is waited for", async () => {
    const repository = gitRepository();
    const folder = join(repository.path, ".git", "refs", "heads", "feat");
    const [lock, said, met] = [join(folder, "1.lock"), join(tempDir(), "said"), join(tempDir(), "met")];
    writeIn(folder, "1.lock", "");
    // The holder goes once the first git has met it.
    const gitPath = gitWrapper(
      `git "$@" 2>'${said}'; status=$?; cat '${said}' >&2
      grep -q 'feat/1\\.lock' '${said}' && { : >'${met}'; rm -f '${lock}'; }; exit $status`,
    );
    const { workspace, spec } = worktreeWorld(repository, { gitPath });
    await expect(workspace.create(spec())).resolves.toMatchObject({ branchCreated: true });
    expect(existsSync(met)).toBe(true);
  });

  test("that is gone is one clear error", async () => {
    const { workspace, spec } = worktreeWorld();
    const repositoryPath = join(tempDir("ao-gone"), "gone");
    await failure(workspace.create(spec({ repositoryPath })), "git_failed");
  });

  test("git missing is git_unavailable, by check and by create", async () => {
    const { workspace, spec } = worktreeWorld(gitRepository(), { gitPath: "/nonexistent/git" });
    expect(await workspace.check()).toMatchObject({ kind: "missing" });
    const error = await failure(workspace.create(spec()), "git_unavailable");
    expect(error.hint).toContain("install git");
  });

  test("a git that is too old is told by check", async () => {
    const gitPath = gitWrapper('echo "git version 2.24.1"; exit 0');
    const { workspace } = worktreeWorld(gitRepository(), { gitPath });
    expect(await workspace.check()).toMatchObject({ kind: "too_old", version: "2.24.1", needed: "2.25" });
  });
});

describe("the place", () => {
  test("the worktree is marked as the session's in its private git directory, readable by the owner alone", async () => {
    const { workspace, spec, managedRoot } = worktreeWorld();
    const { path } = await workspace.create(spec());
    expect(markerAt(path)).toMatchObject({ sessionId: "app-1", projectId: "app", managedRoot, put: [] });
    expect(statSync(join(gitDirOf(path), "ao.json")).mode & 0o777).toBe(0o600);
    expect(statSync(path).mode & 0o777).toBe(0o700);
    expect(statSync(managedRoot).mode & 0o777).toBe(0o700);
    expect(gitIn(path, "status", "--porcelain", "--ignored")).toBe("");
  });

  test.each<[string, (path: string) => void]>([
    ["a folder with a file", (path) => writeIn(path, "file", "x")],
    ["a file", (path) => writeIn(join(path, ".."), "app-1", "x")],
  ])("%s there is refused and left", async (_name, arrange) => {
    const world = worktreeWorld();
    arrange(world.spec().path);
    const before = traces(world);
    await failure(world.workspace.create(world.spec()), "workspace_exists");
    expect(traces(world)).toEqual(before);
  });

  test("one that the system refuses to make is a clear error, and nothing is left", async () => {
    const file = join(tempDir("ao-file"), "file");
    writeFileSync(file, "x");
    const world = worktreeWorld(gitRepository(), { managedRoot: join(file, "worktrees") });
    const before = traces(world);
    const error = await failure(world.workspace.create(world.spec()), "git_failed");
    expect(error.message).toMatch(/app-1 could not be made: ENOTDIR/);
    expect(traces(world)).toEqual(before);
  });

  test("an empty folder there is used", async () => {
    const { workspace, spec } = worktreeWorld();
    mkdirSync(spec().path, { recursive: true });
    await expect(workspace.create(spec())).resolves.toMatchObject({ path: spec().path });
  });

  test("git's record of a folder deleted by hand is dropped, and only that one", async () => {
    const { repository, workspace, spec } = worktreeWorld();
    const stranger = join(tempDir("ao-stranger"), "stranger");
    repository.git("worktree", "add", "-q", "-b", "stranger", stranger);
    await workspace.create(spec());
    rmSync(spec().path, { recursive: true });
    rmSync(stranger, { recursive: true });
    const { path } = await workspace.create(spec({ branch: "feat/2" }));
    expect(repository.worktrees()).toEqual(expect.arrayContaining([path, stranger]));
  });

  test.each<[string, (path: string) => void, string]>([
    ["that is locked", (path) => void gitIn(path, "worktree", "lock", path), "worktree unlock"],
    [
      "that alone holds a commit",
      (path) => {
        gitIn(path, "checkout", "-q", "--detach");
        gitIn(path, "commit", "-qm", "x", "--allow-empty");
      },
      "branch <name>",
    ],
  ])("a record %s is left, with what to do", async (_name, arrange, hint) => {
    const world = worktreeWorld();
    const { path } = await world.workspace.create(world.spec());
    arrange(path);
    rmSync(path, { recursive: true });
    const before = traces(world);
    const error = await failure(world.workspace.create(world.spec({ branch: "b" })), "workspace_exists");
    expect(error.hint).toContain(hint);
    expect(traces(world)).toEqual(before);
  });

  test("a managed root behind a link works with either path", async () => {
    const real = tempDir("ao-real");
    const link = join(tempDir("ao-link"), "root");
    symlinkSync(real, link);
    const { repository, workspace, spec } = worktreeWorld(gitRepository(), { managedRoot: link });
    const { path } = await workspace.create(spec());
    expect(path).toBe(join(real, "app", "app-1"));
    const second = spec({ path: join(real, "app", "app-2"), sessionId: "app-2" as SessionId, branch: "b" });
    await workspace.create(second);
    expect(repository.worktrees()).toEqual([repository.path, path, second.path]);
    expect(await workspace.inspect(spec())).toEqual([]);
    await workspace.destroy(spec({ path }));
    await workspace.destroy(second);
    expect(repository.worktrees()).toEqual([repository.path]);
  });

  test.each<[string, (managedRoot: string, outside: string) => string]>([
    ["climbs out", (root) => join(root, "..", "other")],
    ["is the root itself", (root) => root],
    ["only begins like the root", (root) => `${root}-evil/app-1`],
    ["is relative", () => "worktrees/app/app-1"],
    ["has a NUL", (root) => `${root}/app\0/app-1`],
    [
      "leads out through a link",
      (root, outside) => {
        mkdirSync(root, { recursive: true });
        symlinkSync(outside, join(root, "app"));
        return join(root, "app", "app-1");
      },
    ],
    [
      "is a link itself",
      (root, outside) => {
        mkdirSync(join(root, "app"), { recursive: true });
        symlinkSync(outside, join(root, "app", "app-1"));
        return join(root, "app", "app-1");
      },
    ],
  ])("a path that %s is refused and nothing is made", async (_name, arrange) => {
    const world = worktreeWorld();
    const outside = tempDir("ao-outside");
    const path = arrange(world.managedRoot, outside);
    const before = traces(world);
    await failure(world.workspace.create(world.spec({ path })), "workspace_unsafe_path");
    expect(traces(world)).toEqual(before);
    expect(filesBelow(outside)).toEqual([]);
  });

  test("a managed root inside the repository does not show in its status", async () => {
    const repository = gitRepository();
    const managedRoot = join(repository.path, ".worktrees");
    const { workspace, spec } = worktreeWorld(repository, { managedRoot });
    await workspace.create(spec());
    expect(repository.git("status", "--porcelain")).toBe("");
    await workspace.destroy(spec());
  });
});

describe("hooks", () => {
  test("one that fails after a complete checkout is a warning", async () => {
    const { repository, workspace, spec } = worktreeWorld();
    hook(repository, "post-checkout", "echo no luck >&2; exit 3");
    const created = await workspace.create(spec());
    expect(created.warnings).toEqual([expect.stringMatching(/hook failed with 3: no luck/)]);
    expect(markerAt(created.path)).toMatchObject({ sessionId: "app-1" });
  });

  test("one that fails and leaves the checkout incomplete undoes everything", async () => {
    const world = worktreeWorld();
    hook(world.repository, "post-checkout", "rm readme.md; exit 1");
    const before = traces(world);
    await failure(world.workspace.create(world.spec()), "git_failed");
    expect(traces(world)).toEqual(before);
  });

  test("what one makes is not taken for work", async () => {
    const { repository, workspace, spec } = worktreeWorld();
    hook(repository, "post-checkout", "echo x >generated.txt; echo y >>readme.md");
    await workspace.create(spec());
    expect(await workspace.inspect(spec())).toEqual([]);
    await workspace.destroy(spec());
  });

  test("one that hangs is ended with all it started, and everything is undone", async () => {
    const world = worktreeWorld(gitRepository(), { addTimeoutMs: 1_000 });
    hook(world.repository, "post-checkout", "sleep 300 & wait");
    const before = traces(world);
    const error = await failure(world.workspace.create(world.spec()), "git_failed");
    expect(error.message).toContain("was ended after 1 s");
    expect(traces(world)).toEqual(before);
  });

  test("one that leaves a process in the background keeps nobody waiting", async () => {
    const { repository, workspace, spec } = worktreeWorld();
    const pidFile = join(tempDir("ao-pid"), "pid");
    hook(repository, "post-checkout", `sleep 300 & echo $! >'${pidFile}'`);
    await workspace.create(spec());
    // It fails with ESRCH when that one was waited for.
    process.kill(Number(readFileSync(pidFile, "utf8")), "SIGKILL");
  });
});

test("twenty at once on one repository all succeed, each with its own branch", async () => {
  const { repository, workspace, spec } = worktreeWorld();
  const specs = Array.from({ length: 20 }, (_, at) =>
    spec({ sessionId: `app-${at + 1}` as SessionId, branch: `feat/${at + 1}` }),
  );
  const created = await Promise.all(specs.map((one) => workspace.create(one)));
  expect(new Set(repository.worktrees())).toEqual(
    new Set([repository.path, ...specs.map(({ path }) => path)]),
  );
  expect(created.every(({ branchCreated }) => branchCreated)).toBe(true);
  await Promise.all(specs.map((one) => workspace.destroy(one)));
  expect(repository.worktrees()).toEqual([repository.path]);
});

test("of two at once on one branch the second is refused and takes nothing of the first", async () => {
  const { repository, workspace, spec } = worktreeWorld();
  const results = await Promise.allSettled([
    workspace.create(spec()),
    workspace.create(spec({ sessionId: "app-2" as SessionId })),
  ]);
  const [first] = results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  const refusals = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
  expect(refusals).toEqual([expect.objectContaining({ code: "branch_in_use" })]);
  expect(repository.worktrees()).toEqual([repository.path, first?.path]);
  expect(repository.branches()).toEqual(["feat/1", "main"]);
});
