import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { findDefaultBranch } from "../../../../src/adapters/worktree/default-branch.ts";
import { gitRepositories } from "../../../../src/adapters/worktree/git-repositories.ts";
import { openRepository } from "../../../../src/adapters/worktree/repository.ts";
import { gitRunner } from "../../../../src/adapters/worktree/run-git.ts";
import {
  emptyRepository,
  GIT_ENV,
  gitIn,
  gitRepository,
  type TestRepository,
} from "../../../support/git-repository.ts";
import { tempDir } from "../../../support/temp-dir.ts";

const repositories = gitRepositories({ env: GIT_ENV });

function linkedWorktree(repository: TestRepository): string {
  const path = join(tempDir("ao-linked"), "linked");
  repository.git("worktree", "add", "-q", "-b", "linked", path);
  return path;
}

describe("find", () => {
  test("a linked worktree and a folder in it lead to the main working tree", async () => {
    const repository = gitRepository();
    const linked = linkedWorktree(repository);
    mkdirSync(join(linked, "sub"));
    expect((await repositories.find(linked))?.path).toBe(repository.path);
    expect((await repositories.find(join(linked, "sub")))?.path).toBe(repository.path);
  });

  test("a linked worktree of a bare repository leads to the bare one", async () => {
    const repository = gitRepository();
    const bare = join(tempDir("ao-bare"), "bare.git");
    repository.git("clone", "-q", "--bare", repository.path, bare);
    const linked = join(tempDir("ao-linked"), "linked");
    gitIn(bare, "worktree", "add", "-q", linked, "main");
    expect(await repositories.find(linked)).toEqual({ path: bare, bare: true });
  });

  test("a submodule is a repository by itself, also from a linked worktree of it", async () => {
    const library = gitRepository();
    const repository = gitRepository();
    repository.git("submodule", "add", "-q", library.path, "lib");
    const submodule = join(repository.path, "lib");
    expect((await repositories.find(submodule))?.path).toBe(submodule);
    const linked = join(tempDir("ao-linked"), "linked");
    gitIn(submodule, "worktree", "add", "-q", "-b", "linked", linked);
    expect((await repositories.find(linked))?.path).toBe(submodule);
  });

  test("a git directory kept elsewhere leads to its working tree", async () => {
    const folder = tempDir("ao-separate");
    const path = join(folder, "tree");
    gitIn(folder, "init", "-q", "-b", "main", "--separate-git-dir", join(folder, "gitdir"), path);
    expect((await repositories.find(path))?.path).toBe(path);
  });

  test("the .git folder leads to the working tree around it", async () => {
    const repository = gitRepository();
    expect((await repositories.find(join(repository.path, ".git")))?.path).toBe(repository.path);
  });

  test("a path through a symbolic link leads to the resolved one", async () => {
    const repository = gitRepository();
    const link = join(tempDir("ao-link"), "link");
    symlinkSync(repository.path, link);
    expect((await repositories.find(link))?.path).toBe(repository.path);
  });

  test("a folder name with a backslash, quotes, an emoji and a command is no trouble", async () => {
    const folder = join(tempDir("ao-odd"), 'we\\ird "🦄" $(touch x)');
    const repository = gitRepository(folder);
    mkdirSync(join(folder, "sub"));
    expect((await repositories.find(join(folder, "sub")))?.path).toBe(repository.path);
  });

  test("a folder name with a line feed is one clear error", async () => {
    const repository = gitRepository(join(tempDir("ao-odd"), "one\ntwo"));
    mkdirSync(join(repository.path, "sub"));
    const found = repositories.find(join(repository.path, "sub"));
    await expect(found).rejects.toMatchObject({ code: "git_failed", hint: "rename that folder" });
  });

  test.each(["GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_CEILING_DIRECTORIES"])(
    "%s of the caller has no say",
    async (name) => {
      const repository = gitRepository();
      mkdirSync(join(repository.path, "sub"));
      const elsewhere = gitRepository();
      const value = name === "GIT_CEILING_DIRECTORIES" ? repository.path : join(elsewhere.path, ".git");
      const misled = gitRepositories({ env: { ...GIT_ENV, [name]: value } });
      expect((await misled.find(join(repository.path, "sub")))?.path).toBe(repository.path);
    },
  );

  test("a git that is not there is an error, not 'no repository'", async () => {
    const broken = gitRepositories({ env: GIT_ENV, gitPath: "/nonexistent/git" });
    await expect(broken.find("/")).rejects.toMatchObject({ code: "git_unavailable" });
  });

  test("a git that does not answer is an error within bounded time", async () => {
    const gitPath = join(tempDir("ao-slow"), "git");
    writeFileSync(gitPath, "#!/bin/sh\nexec sleep 60\n");
    chmodSync(gitPath, 0o755);
    const slow = gitRepositories({ env: GIT_ENV, gitPath, timeoutMs: 200 });
    await expect(slow.find("/")).rejects.toMatchObject({ code: "git_unavailable" });
  });

  test("a repository that git refuses to open is an error, not 'no repository'", async () => {
    const repository = gitRepository();
    writeFileSync(join(repository.path, ".git", "config"), "[broken\n");
    await expect(repositories.find(repository.path)).rejects.toMatchObject({ code: "git_failed" });
  });
});

async function defaultBranch(path: string): Promise<string | null> {
  const git = gitRunner({ env: GIT_ENV });
  return (await findDefaultBranch(git, await openRepository(git, path)))?.name ?? null;
}

describe("default branch", () => {
  test("is where origin/HEAD points, before any local name", async () => {
    const upstream = gitRepository();
    upstream.git("branch", "-m", "main", "trunk");
    const clone = join(tempDir("ao-clone"), "clone");
    upstream.git("clone", "-q", upstream.path, clone);
    gitIn(clone, "branch", "main");
    expect(await defaultBranch(clone)).toBe("trunk");
  });

  test.each(["main", "master"])("is %s when it exists and another branch is checked out", async (name) => {
    const repository = gitRepository();
    repository.git("branch", "-m", "main", name);
    repository.git("switch", "-qc", "feature");
    expect(await defaultBranch(repository.path)).toBe(name);
  });

  test("is init.defaultBranch when that exists", async () => {
    const repository = gitRepository();
    repository.git("branch", "develop");
    repository.git("config", "init.defaultBranch", "develop");
    expect(await defaultBranch(repository.path)).toBe("develop");
  });

  test("is else the branch that is checked out, also before the first commit", async () => {
    const repository = gitRepository();
    repository.git("branch", "-m", "main", "only");
    expect(await defaultBranch(repository.path)).toBe("only");
    expect(await defaultBranch(emptyRepository().path)).toBe("main");
  });

  test("is unknown on a detached HEAD with no usual name", async () => {
    const repository = gitRepository();
    repository.git("branch", "-m", "main", "only");
    repository.git("checkout", "-q", "--detach");
    expect(await defaultBranch(repository.path)).toBeNull();
  });

  test("passes over an origin/HEAD that points nowhere", async () => {
    const repository = gitRepository();
    repository.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/gone");
    expect(await defaultBranch(repository.path)).toBe("main");
  });
});
