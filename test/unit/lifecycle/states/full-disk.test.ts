import { randomBytes } from "node:crypto";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isAoError } from "../../../../src/domain/errors.ts";
import { writeIn } from "../../../support/git-repository.ts";
import { closedFolder, smallDisk } from "../../../support/small-disk.ts";
import { tempDir } from "../../../support/temp-dir.ts";
import { worktreeSnapshot } from "../../../support/tree-snapshot.ts";
import { stateRepository } from "../../../support/worktree-states/projects.ts";
import { pictureOf } from "../../adapters/worktree/salvage/salvage-world.ts";
import { statesWorld } from "./states-world.ts";

/** A session with work, and the disk of its repository. */
async function worked() {
  const path = join(tempDir("ao-state"), "disk");
  let isSmall = true;
  const disk = smallDisk(path, 8, () => {
    isSmall = false;
    return closedFolder(path);
  });
  const world = statesWorld({ seesProcesses: false });
  const session = await world.spawn(stateRepository("usual", join(path, "repo")));
  writeIn(session.path, "f.txt", "two\n");
  writeIn(session.path, "new.txt", "work\n".repeat(1_000));
  return { world, session, disk, isSmall, picture: pictureOf(session.path) };
}

type Worked = Awaited<ReturnType<typeof worked>>;

/** What a cleanup that keeps work has freed; it has to say why it could not. */
async function howManyGo({ cleanup }: Worked["world"]): Promise<number> {
  try {
    const { cleaned, errors } = await cleanup({ salvage: true });
    expect(errors).toHaveLength(1);
    return cleaned.length;
  } catch (error) {
    expect(error).toMatchObject({ code: "git_unavailable" });
    return 0;
  }
}

/** What a cleanup that keeps work would free: whether it can keep it, it can only tell where it has room to look. */
async function whatWouldGo({ cleanup }: Worked["world"]): Promise<unknown> {
  try {
    const { cleaned, skipped, errors } = await cleanup({ salvage: true, dryRun: true });
    return cleaned.length === 1 && skipped.length + errors.length === 0
      ? "one"
      : { cleaned, skipped, errors };
  } catch (error) {
    return isAoError(error) ? error.code : error;
  }
}

test.each<[string, (it: Worked) => void, (it: Worked) => void]>([
  ["has no room", ({ disk }) => disk.fill(), ({ disk }) => disk.free()],
  [
    "has less room than the work needs",
    ({ disk, session, isSmall }) => {
      writeFileSync(join(session.path, "big.bin"), randomBytes(10 * 1024 ** 2));
      if (!isSmall) disk.fill();
    },
    ({ disk, session, isSmall }) => {
      rmSync(join(session.path, "big.bin"));
      if (!isSmall) disk.free();
    },
  ],
])(
  "a repository that %s keeps no work: each command says so, nothing goes, and later all comes back",
  async (_when, fill, free) => {
    const it = await worked();
    const { world, session, picture } = it;
    fill(it);
    const all = () => worktreeSnapshot(session.repository, session.path);
    const before = all();
    expect(await world.kill(session, { salvage: true })).toMatchObject({
      kind: "refused",
      error: { code: "teardown_incomplete", details: { code: "git_failed", workspaceFreed: false } },
    });
    expect(await world.kill(session)).toMatchObject({ kind: "done", result: { workspaceFreed: false } });
    expect(all()).toEqual(before);
    for (const dryRun of [true, false]) {
      const { cleaned, skipped, errors } = await world.cleanup({ dryRun });
      expect([cleaned.length, skipped.map(({ reason }) => reason), errors]).toEqual([0, ["dirty"], []]);
    }
    expect(["one", "git_unavailable"]).toContain(await whatWouldGo(world));
    expect(all()).toEqual(before);
    expect(await howManyGo(world)).toBe(0);
    expect(all()).toEqual(before);
    free(it);
    expect((await world.cleanup({ salvage: true })).cleaned).toHaveLength(1);
    expect(existsSync(session.path)).toBe(false);
    await world.restore(session);
    expect(pictureOf(session.path)).toEqual(picture);
  },
);
