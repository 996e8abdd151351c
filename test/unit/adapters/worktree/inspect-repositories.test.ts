import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { gitIn, gitRepository, writeIn } from "../../../support/git-repository.ts";
import { gitDirOf, itemsByKind, worktreeWorld } from "./worktree-world.ts";

/** A session's worktree whose repository ignores folders of tools and builds. */
async function opened() {
  const repository = gitRepository();
  repository.commit(".gitignore", "node_modules/\nbuild/\n.venv/\n");
  const world = worktreeWorld(repository);
  const { path } = await world.workspace.create(world.spec());
  const look = async () => itemsByKind(await world.workspace.inspect(world.spec()));
  return { path, look, git: (...args: readonly string[]) => gitIn(path, ...args) };
}

describe("other repositories inside", () => {
  test.each(["nested", "build/nested", "node_modules/lib", "node_modules/@scope/lib", ".venv/src/lib"])(
    "a repository at %s is found",
    async (folder) => {
      const { path, look } = await opened();
      gitRepository(join(path, folder));
      expect(await look()).toEqual({ nested_repository: [`${folder}/`] });
    },
  );

  test("a bare repository in an ignored folder is found", async () => {
    const { look, git } = await opened();
    git("init", "-q", "--bare", "build/r.git");
    expect(await look()).toEqual({ nested_repository: ["build/r.git/"] });
  });

  test("one that is committed as a link is found", async () => {
    const { path, look, git } = await opened();
    gitRepository(join(path, "nested"));
    git("-c", "advice.addEmbeddedRepo=false", "add", "nested");
    git("commit", "-qm", "embed");
    expect(await look()).toEqual({ nested_repository: ["nested/"] });
  });

  async function withSubmodule() {
    const library = gitRepository();
    const repository = gitRepository();
    repository.git("submodule", "add", "-q", library.path, "lib");
    repository.git("commit", "-qm", "add lib");
    const world = worktreeWorld(repository);
    const { path } = await world.workspace.create(world.spec());
    const look = async () => itemsByKind(await world.workspace.inspect(world.spec()));
    return { ...world, path, look, lib: join(path, "lib") };
  }

  test("an initialised submodule without work is none, and goes with the worktree", async () => {
    const { workspace, spec, path, look, repository } = await withSubmodule();
    gitIn(path, "submodule", "update", "-q", "--init");
    expect(await look()).toEqual({});
    await workspace.destroy(spec());
    expect(repository.worktrees()).toEqual([repository.path]);
  });

  test.each<[string, (lib: string, path: string) => void]>([
    ["a changed file", (lib) => writeIn(lib, "readme.md", "x")],
    ["an untracked file", (lib) => writeIn(lib, "new.txt", "x")],
    ["an ignored file", (lib) => ignoreAndWrite(lib, ".env")],
    ["a commit", (lib) => void gitIn(lib, "commit", "-qm", "x", "--allow-empty")],
    ["a stash", (lib) => stash(lib)],
    [
      "a commit that an update left in its log alone",
      (lib, path) => {
        gitIn(lib, "commit", "-qm", "x", "--allow-empty");
        gitIn(path, "submodule", "update", "-q");
      },
    ],
    [
      "a commit that only a tag of its own holds",
      (lib, path) => {
        gitIn(lib, "commit", "-qm", "x", "--allow-empty");
        gitIn(lib, "tag", "v1");
        gitIn(path, "submodule", "update", "-q");
      },
    ],
    [
      "a commit that a reset took from its branch",
      (lib) => {
        gitIn(lib, "switch", "-qc", "feat");
        gitIn(lib, "commit", "-qm", "x", "--allow-empty");
        gitIn(lib, "reset", "-q", "--hard", "HEAD~1");
      },
    ],
    [
      "a commit that the repository has recorded",
      (lib, path) => {
        gitIn(lib, "commit", "-qm", "x", "--allow-empty");
        gitIn(path, "commit", "-qam", "use it");
      },
    ],
  ])("a submodule with %s is found, whatever it says of itself", async (_name, change) => {
    const { path, lib, look } = await withSubmodule();
    gitIn(path, "submodule", "update", "-q", "--init");
    gitIn(path, "config", "submodule.lib.ignore", "all");
    change(lib, path);
    expect((await look())["submodule"]).toContain("lib");
  });

  test("commits of a submodule that was taken out again are found", async () => {
    const { path, lib, look } = await withSubmodule();
    gitIn(path, "submodule", "update", "-q", "--init");
    gitIn(lib, "switch", "-qc", "mine");
    gitIn(lib, "commit", "-qm", "x", "--allow-empty");
    gitIn(path, "submodule", "--quiet", "deinit", "-f", "lib");
    expect(await look()).toEqual({ submodule: ["modules/lib"] });
  });

  test("a file in the folder of one that was never initialised is found", async () => {
    const { lib, look } = await withSubmodule();
    writeIn(lib, "new.txt", "x");
    expect(await look()).toEqual({ untracked: ["lib/new.txt"] });
  });

  function ignoreAndWrite(lib: string, name: string): void {
    writeIn(gitDirOf(lib), "info/exclude", `${name}\n`);
    writeIn(lib, name, "x");
  }

  function stash(lib: string): void {
    writeIn(lib, "readme.md", "x");
    gitIn(lib, "stash", "-q");
  }
});
