import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { gitIn, gitRepository } from "../../../support/git-repository.ts";
import { failure, gitDirOf, worktreeWorld } from "./worktree-world.ts";

async function opened() {
  const world = worktreeWorld(gitRepository());
  const { path } = await world.workspace.create(world.spec());
  return { ...world, path, gitDir: gitDirOf(path) };
}

/** As an editor leaves it. */
const EDITED = "Half a thought\n\n# Please enter the commit message for your changes.\n";

describe("what only the git folder of a worktree has", () => {
  test.each<[string, (path: string, gitDir: string) => void, string]>([
    [
      "settings of its own",
      (path) => {
        gitIn(path, "config", "extensions.worktreeConfig", "true");
        gitIn(path, "config", "--worktree", "user.name", "Somebody");
      },
      "settings of git config --worktree",
    ],
    [
      "the draft of a message",
      (_path, gitDir) => writeFileSync(join(gitDir, "COMMIT_EDITMSG"), EDITED),
      "a commit whose message is written (COMMIT_EDITMSG)",
    ],
  ])("keeps it: %s, also when its folder is gone", async (_what, write, item) => {
    const { workspace, spec, path, gitDir } = await opened();
    write(path, gitDir);
    const draft = { kind: "operation_in_progress", items: [item] };
    for (const kept of [[draft], [{ kind: "missing" }, draft]]) {
      const { details } = await failure(workspace.destroy(spec()), "workspace_dirty");
      expect(details["findings"]).toEqual(kept.map((finding) => expect.objectContaining(finding)));
      rmSync(path, { recursive: true, force: true });
    }
  });

  test.each<[string, (path: string, gitDir: string) => void]>([
    [
      "a message that a commit has",
      (path, gitDir) => {
        gitIn(path, "commit", "-qm", "Half a thought", "--allow-empty");
        writeFileSync(join(gitDir, "COMMIT_EDITMSG"), EDITED);
        gitIn(path, "commit", "-qm", "Another", "--allow-empty");
        writeFileSync(join(gitDir, "COMMIT_EDITMSG"), EDITED);
      },
    ],
    [
      "nothing but comments",
      (_path, gitDir) => writeFileSync(join(gitDir, "COMMIT_EDITMSG"), "\n# Please\n"),
    ],
    [
      "a message of commit -m that had nothing to commit",
      (_path, gitDir) => writeFileSync(join(gitDir, "COMMIT_EDITMSG"), "Done\n"),
    ],
  ])("does not keep it: %s", async (_what, write) => {
    const { workspace, spec, path, gitDir } = await opened();
    write(path, gitDir);
    await workspace.destroy(spec());
  });

  test("does not keep the settings that git copied from the main working tree", async () => {
    const repository = gitRepository();
    repository.git("config", "extensions.worktreeConfig", "true");
    repository.git("config", "--worktree", "user.name", "Everybody");
    const { workspace, spec } = worktreeWorld(repository);
    await workspace.create(spec());
    await workspace.destroy(spec());
  });
});
