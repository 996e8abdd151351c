import { describe, expect, test } from "vitest";
import type { AoErrorCode } from "../../../../src/domain/errors.ts";
import { gitIn } from "../../../support/git-repository.ts";
import { failure, hook, traces, type WorktreeWorld, worktreeWorld } from "./worktree-world.ts";

const ONCE = '[ "$(git symbolic-ref --short HEAD)" = feat/1 ] || exit 0;';

function byHook(script: string) {
  return (world: WorktreeWorld) => {
    hook(world.repository, "post-checkout", `${ONCE} ${script}`);
    return world.spec();
  };
}

function byCommand(script: string) {
  return (world: WorktreeWorld) =>
    world.spec({ postCreate: { commands: ["true", `echo hello; ${script}`] } });
}

describe("a new workspace that is led away from its branch", () => {
  test.each<[string, (world: WorktreeWorld) => ReturnType<WorktreeWorld["spec"]>, AoErrorCode, string]>([
    [
      "by a hook to another branch",
      byHook("git switch -q other"),
      "git_failed",
      "from branch feat/1 to other",
    ],
    [
      "by a hook to no branch",
      byHook("git checkout -q --detach"),
      "git_failed",
      "off branch feat/1, to no branch",
    ],
    ["by a failing hook", byHook("git switch -q other; exit 3"), "git_failed", "feat/1"],
    [
      "by a command to another branch",
      byCommand("git switch -q other"),
      "post_create_failed",
      'git switch -q other" led the workspace from branch feat/1 to other',
    ],
    [
      "by a command to no branch",
      byCommand("git checkout -q --detach"),
      "post_create_failed",
      "off branch feat/1, to no branch",
    ],
  ])("%s is refused and taken back", async (_name, arrange, code, message) => {
    const world = worktreeWorld();
    world.repository.git("branch", "other");
    const before = traces(world);
    const error = await failure(world.workspace.create(arrange(world)), code);
    expect(error.message).toContain(message);
    if (code === "post_create_failed") expect(error.details["output"]).toContain("hello");
    expect(traces(world)).toEqual(before);
  });

  test("is refused by restore as well, and its branch stays", async () => {
    const world = worktreeWorld();
    world.repository.git("branch", "other");
    await world.workspace.create(world.spec());
    await world.workspace.destroy(world.spec());
    const before = traces(world);
    await failure(world.workspace.restore(byHook("git switch -q other")(world)), "git_failed");
    expect(traces(world)).toEqual(before);
  });

  test("and comes back to it is none of those", async () => {
    const world = worktreeWorld();
    world.repository.git("branch", "other");
    const commands = ["git switch -q other && git switch -q feat/1"];
    const { path } = await world.workspace.create(world.spec({ postCreate: { commands } }));
    expect(gitIn(path, "symbolic-ref", "--short", "HEAD")).toBe("feat/1");
  });

  test("is told from one whose HEAD is a symbolic link", async () => {
    const { workspace, spec, repository } = worktreeWorld();
    repository.git("config", "core.preferSymlinkRefs", "true");
    const commands = ["git switch -qc other", "git switch -q feat/1"];
    await failure(workspace.create(spec({ postCreate: { commands } })), "post_create_failed");
    expect(await workspace.create(spec())).toMatchObject({ branch: "feat/1" });
  });
});
