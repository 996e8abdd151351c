import { existsSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { memoryLocks } from "../../../../../src/adapters/memory/locks.ts";
import { memoryProcessTable } from "../../../../../src/adapters/memory/process-table.ts";
import { gitSnapshots } from "../../../../../src/adapters/worktree/salvage/git-snapshots.ts";
import type { TurnId } from "../../../../../src/domain/ids.ts";
import { GIT_ENV, gitExit, gitIn, gitRepository, writeIn } from "../../../../support/git-repository.ts";
import { failure, gitDirOf, worktreeWorld } from "../worktree-world.ts";
import { AT_MS, pictureOf } from "./salvage-world.ts";
import { snapshotProgram } from "./snapshot-program.ts";

/** A worktree with work of all kinds, and processes that keep it, put it back and die on the way. */
async function crashWorld() {
  const repository = gitRepository();
  repository.commit(".gitignore", ".env\n");
  repository.commit("tracked.txt", "one\n");
  repository.commit("gone.txt", "gone\n");
  const world = worktreeWorld(repository);
  const { managedRoot, trashDir, workspace } = world;
  const roots = { managedRoot, trashDir };
  const parts = { processes: memoryProcessTable(), locks: memoryLocks() };
  const snapshots = gitSnapshots({ ...roots, ...parts, env: GIT_ENV });
  const spec = world.spec();
  const { path } = await workspace.create(spec);
  const run = await snapshotProgram();
  const salvageArgs = { workspace: spec, reason: "kill", atMs: AT_MS } as const;
  return {
    ...{ repository, snapshots, spec, path, salvageArgs },
    run: (method: "salvage" | "putBack" | "rewind" | "take", args: readonly unknown[], at?: number) =>
      run({ ...roots, method, args }, at),
    /** Everything that a worktree can hold, in a merge that is in conflict. */
    work() {
      gitIn(path, "checkout", "-q", "-b", "side");
      writeIn(path, "tracked.txt", "theirs\n");
      gitIn(path, "commit", "-qam", "theirs");
      gitIn(path, "checkout", "-q", "feat/1");
      writeIn(path, "tracked.txt", "ours\n");
      gitIn(path, "commit", "-qam", "ours");
      gitExit(path, "merge", "side");
      rmSync(join(path, "gone.txt"));
      writeIn(path, "staged.txt", "staged\n");
      gitIn(path, "add", "staged.txt");
      writeIn(path, "readme.md", "changed\n");
      writeIn(path, "new/notes.txt", "mine\n");
      writeIn(path, ".env", "SECRET=1\n");
      symlinkSync("nowhere", join(path, "link"));
    },
    async makeAnew() {
      repository.git("worktree", "remove", "--force", "--force", path);
      await workspace.restore(spec);
    },
    leftIn: (folder: string) => readdirSync(folder).filter((name) => /^\.?ao-(?!.*json$)/.test(name)),
  };
}

describe("a salvage that was killed", () => {
  test("at any boundary has changed nothing, and the next one keeps all", async () => {
    const { work, run, path, snapshots, spec, salvageArgs, repository } = await crashWorld();
    work();
    const before = pictureOf(path);
    const whole = await run("salvage", [salvageArgs]);
    expect(whole.done).toBe(true);
    expect(whole.crossed).toEqual(
      ["objects", "commit", "ref"].flatMap((step) => [`salvage.${step}:before`, `salvage.${step}:after`]),
    );
    for (let at = 1; at <= whole.crossed.length; at += 1) {
      for (const { ref } of await snapshots.list(repository.path)) await snapshots.drop(repository.path, ref);
      const { done } = await run("salvage", [salvageArgs], at);
      expect(done).toBe(false);
      expect(pictureOf(path), `killed at ${whole.crossed[at - 1]}`).toEqual(before);
      const outcome = await snapshots.salvage(salvageArgs);
      if (outcome.kind !== "kept") throw new Error("nothing was kept");
      const all = await snapshots.list(repository.path);
      expect(all.map(({ ref }) => ref)).toEqual([outcome.ref]);
      expect(await snapshots.holds({ workspace: spec, ref: outcome.ref })).toBe(true);
    }
  }, 60_000);
});

describe("a putting back that was killed", () => {
  test("at any boundary is finished by the next one", async () => {
    const { work, run, path, snapshots, spec, salvageArgs, makeAnew, leftIn } = await crashWorld();
    work();
    const before = pictureOf(path);
    const outcome = await snapshots.salvage(salvageArgs);
    if (outcome.kind !== "kept") throw new Error("nothing was kept");
    const request = { workspace: spec, ref: outcome.ref };
    await makeAnew();
    const whole = await run("putBack", [request]);
    expect(whole.crossed).toEqual(
      expect.arrayContaining(["put_back.file:before", "put_back.index:locked", "put_back.head:after"]),
    );
    expect(pictureOf(path)).toEqual(before);
    for (let at = 1; at <= whole.crossed.length; at += 1) {
      await makeAnew();
      expect((await run("putBack", [request], at)).done).toBe(false);
      await snapshots.putBack(request);
      expect(pictureOf(path), `killed at ${whole.crossed[at - 1]}, boundary ${at}`).toEqual(before);
      expect(leftIn(path)).toEqual([]);
    }
    expect(await snapshots.putBack(request)).toEqual({ files: 0 });
    expect(existsSync(join(gitDirOf(path), "index.lock"))).toBe(false);
  }, 60_000);
});

test("a put-back waits for nobody who holds the index", async () => {
  const { work, path, snapshots, spec, salvageArgs, makeAnew } = await crashWorld();
  work();
  const outcome = await snapshots.salvage(salvageArgs);
  await makeAnew();
  writeFileSync(join(gitDirOf(path), "index.lock"), "");
  const ref = outcome.kind === "kept" ? outcome.ref : "";
  await failure(snapshots.putBack({ workspace: spec, ref }), "busy");
  rmSync(join(gitDirOf(path), "index.lock"));
  await snapshots.putBack({ workspace: spec, ref });
  expect(await snapshots.holds({ workspace: spec, ref })).toBe(true);
});

describe("a rewind that was killed", () => {
  test("at any boundary is finished by the next one, and so is a checkpoint", async () => {
    const { run, path, snapshots, spec, salvageArgs, leftIn } = await crashWorld();
    writeIn(path, "new/notes.txt", "mine\n");
    writeIn(path, "readme.md", "changed\n");
    symlinkSync("readme.md", join(path, "link"));
    const { files } = pictureOf(path);
    const turn = "turn-1" as TurnId;
    for (const at of [1, 2]) expect((await run("take", [spec, turn, "end"], at)).done).toBe(false);
    const taken = await snapshots.take(spec, turn, "end");
    const spoil = () => {
      rmSync(join(path, "new"), { recursive: true, force: true });
      rmSync(join(path, "link"), { force: true });
      writeIn(path, "readme.md", "later\n");
      writeIn(path, "later.txt", "later\n");
    };
    spoil();
    const held = await snapshots.salvage({ ...salvageArgs, reason: "rewind" });
    if (held.kind !== "kept" || taken === null) throw new Error("nothing was kept");
    const request = { workspace: spec, checkpointRef: taken.ref, salvageRef: held.ref };
    const { crossed } = await run("rewind", [request]);
    expect(crossed).toHaveLength(8);
    for (let at = 1; at <= crossed.length; at += 1) {
      spoil();
      expect((await run("rewind", [request], at)).done).toBe(false);
      await snapshots.rewind(request);
      expect(pictureOf(path).files, `killed at boundary ${at}`).toEqual(files);
      expect(leftIn(path)).toEqual([]);
    }
  }, 60_000);
});
