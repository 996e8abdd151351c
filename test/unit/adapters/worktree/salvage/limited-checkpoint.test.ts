import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { memoryLocks } from "../../../../../src/adapters/memory/locks.ts";
import { gitSnapshots } from "../../../../../src/adapters/worktree/salvage/git-snapshots.ts";
import type { TurnId } from "../../../../../src/domain/ids.ts";
import { GIT_ENV, writeIn } from "../../../../support/git-repository.ts";
import { tempDir } from "../../../../support/temp-dir.ts";
import { failure, gitWrapper, worktreeWorld } from "../worktree-world.ts";

const TURN = "turn-1" as TurnId;

test.each([
  ["at once", "*"],
  ["while its refs are listed", "*for-each-ref*"],
  ["while its ref is made", "*update-ref*"],
])(
  "a git that hangs %s has no longer than its caller, and the next try is whole",
  async (_when, command) => {
    const { workspace, spec, managedRoot, trashDir, processes } = worktreeWorld();
    await workspace.create(spec());
    writeIn(spec().path, "new.txt", "new\n");
    const hangs = join(tempDir("ao-hang"), "hangs");
    const gitPath = gitWrapper(`[ -e '${hangs}' ] && case " $* " in ${command}) exec sleep 300;; esac`);
    const parts = { processes, locks: memoryLocks() };
    const snapshots = gitSnapshots({ ...{ managedRoot, trashDir, gitPath, env: GIT_ENV }, ...parts });
    writeFileSync(hangs, "");
    await failure(snapshots.take(spec(), TURN, "start", { withinMs: 1_500 }), "git_unavailable");
    rmSync(hangs);
    expect(await snapshots.take(spec(), TURN, "start", { withinMs: 60_000 })).toMatchObject({
      ref: expect.any(String),
    });
  },
  20_000,
);
