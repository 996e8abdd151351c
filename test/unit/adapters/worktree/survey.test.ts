import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { memoryProcessTable } from "../../../../src/adapters/memory/process-table.ts";
import type { SessionId } from "../../../../src/domain/ids.ts";
import { gitIn, gitRepository, writeIn } from "../../../support/git-repository.ts";
import { failure, gitWrapper, itemsByKind, worktreeWorld } from "./worktree-world.ts";

async function opened(options: Parameters<typeof worktreeWorld>[1] = {}) {
  const repository = gitRepository();
  repository.commit(".gitignore", ".env*\ndist/\n");
  const world = worktreeWorld(repository, options);
  const { path } = await world.workspace.create(world.spec());
  return { ...world, path, git: (...args: readonly string[]) => gitIn(path, ...args) };
}

describe("a survey", () => {
  test("has every ignored file that counts as work, where a finding names twenty", async () => {
    const { workspace, spec, path } = await opened();
    const files = Array.from({ length: 25 }, (_, at) => `.env.${at + 10}`);
    for (const file of files) writeIn(path, file, "x");
    const { findings, ignoredWork } = await workspace.survey(spec());
    expect(ignoredWork).toEqual(files);
    expect(findings).toMatchObject([{ kind: "ignored", count: 25, items: files.slice(0, 20) }]);
  });

  test("has the commits that its branch alone has, and none of another's", async () => {
    const { workspace, spec, git } = await opened();
    git("commit", "-qm", "1", "--allow-empty");
    git("tag", "held");
    git("commit", "-qm", "2", "--allow-empty");
    git("commit", "-qm", "3", "--allow-empty");
    const commits = git("rev-list", "held..HEAD").split("\n");
    expect(await workspace.survey(spec())).toMatchObject({ findings: [], branch: "feat/1", commits });
    git("branch", "other");
    expect(await workspace.survey(spec())).toMatchObject({ commits: [] });
  });

  test("has the stashes that were made on its branch", async () => {
    const { workspace, spec, path, git, repository } = await opened();
    for (const [where, words] of [
      [path, ["-m", "mine: x"]],
      [repository.path, []],
      [path, []],
    ] as const) {
      writeIn(where, "readme.md", "two\n");
      gitIn(where, "stash", "push", "-q", ...words);
    }
    const { findings, stashes } = await workspace.survey(spec());
    expect(findings).toEqual([]);
    expect(stashes).toEqual([
      expect.stringMatching(/^stash@\{0\} WIP on feat\/1: /),
      "stash@{2} On feat/1: mine: x",
    ]);
    expect(git("stash", "list").split("\n")).toHaveLength(3);
  });
});

describe("who uses the worktrees", () => {
  /** Two sessions, and a count of the looks at the processes. */
  async function pair() {
    const table = memoryProcessTable();
    const usersOf = vi.fn(table.usersOf);
    const world = await opened({ processes: { ...table, usersOf } });
    const second = world.spec({
      ...{ sessionId: "app-2" as SessionId, branch: "feat/2" },
      path: join(world.managedRoot, "app", "app-2"),
    });
    await world.workspace.create(second);
    return { ...world, second, table, usersOf };
  }

  test("is seen in one look for all of them", async () => {
    const { workspace, spec, second, path, table, usersOf, trashDir } = await pair();
    table.add({ pid: 4242, command: "vim", cwd: path });
    table.add({ pid: 4243, command: "sh", cwd: "/", files: [join(second.path, "a.log")] });
    table.add({ pid: 4244, command: "sh", cwd: "/", files: [join(trashDir, "app-3.held", "b.log")] });
    const seen = await workspace.users();
    expect(seen.map(({ pid }) => pid).sort()).toEqual([4242, 4243, 4244]);
    const looks = usersOf.mock.calls.length;
    expect(itemsByKind(await workspace.inspect(spec(), seen))).toEqual({ in_use: ["4242 vim"] });
    expect(itemsByKind(await workspace.inspect(second, seen))).toEqual({ in_use: ["4243 sh in a.log"] });
    expect(usersOf.mock.calls).toHaveLength(looks);
  });

  test("is looked at anew where only git was seen, and by every removal", async () => {
    const { workspace, spec, path, table } = await pair();
    const git = table.add({ pid: 4242, command: "git", cwd: path });
    const seen = await workspace.users();
    table.kill(git.pid);
    expect(await workspace.inspect(spec(), seen)).toEqual([]);
    const nobody = await workspace.users();
    table.add({ pid: 4243, command: "vim", cwd: path });
    expect(await workspace.inspect(spec(), nobody)).toEqual([]);
    await failure(workspace.destroy(spec()), "workspace_dirty");
  });
});

describe("the rule for ignored files", () => {
  test("that cannot be read keeps the worktree, when there are any", async () => {
    const ignoredRule = () => Promise.reject(new Error("ao.yaml:3: no"));
    const { workspace, spec, path } = await opened({ ignoredRule });
    expect(await workspace.inspect(spec())).toEqual([]);
    writeIn(path, "dist/app.js", "x");
    expect(itemsByKind(await workspace.inspect(spec()))).toEqual({
      unreadable: ["the rule for ignored files: ao.yaml:3: no"],
    });
  });

  test("is asked for by whose worktree it is", async () => {
    const ignoredRule = vi.fn(async () => ({ reproducible: [".env"], work: [] }));
    const { workspace, spec, path, repository } = await opened({ ignoredRule });
    writeIn(path, ".env", "x");
    expect(await workspace.inspect(spec())).toEqual([]);
    expect(ignoredRule).toHaveBeenCalledWith(
      expect.objectContaining({ sessionId: "app-1", projectId: "app", repositoryPath: repository.path }),
    );
  });

  test("holds for what post-create commands made, too", async () => {
    const ignoredRule = async () => ({ reproducible: [], work: ["dist/"] });
    const { workspace, spec, path } = await opened({ ignoredRule });
    const second = spec({
      ...{ sessionId: "app-2" as SessionId, branch: "feat/2", path: `${path}-2` },
      postCreate: { commands: ["mkdir dist", "echo 1 >dist/app.js"] },
    });
    await workspace.create(second);
    expect(await workspace.inspect(second)).toEqual([]);
    writeIn(second.path, "dist/app.js", "2\n");
    expect(itemsByKind(await workspace.inspect(second))).toEqual({ ignored: ["dist/app.js"] });
  });
});

describe("a git that says nothing, and that all is well,", () => {
  test.each(["ls-files", "rev-list", "status"])("is not believed of %s", async (command) => {
    const { repository, managedRoot, trashDir, spec, path } = await opened();
    const gitPath = gitWrapper(`case " $* " in *" ${command} "*) exit 0;; esac`);
    const { workspace } = worktreeWorld(repository, { managedRoot, trashDir, gitPath });
    writeIn(path, "dist/app.js", "x");
    const code = command === "status" ? "workspace_dirty" : "git_unavailable";
    const error = await failure(workspace.destroy(spec()), code);
    expect(error.message).toMatch(/no header|did not answer/);
  });
});
