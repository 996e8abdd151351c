import { mkdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { takeCheckpoint } from "../../../../../src/adapters/worktree/salvage/checkpoints.ts";
import { rewindFiles } from "../../../../../src/adapters/worktree/salvage/rewind.ts";
import type { TurnId } from "../../../../../src/domain/ids.ts";
import { gitIn } from "../../../../support/git-repository.ts";
import { tempDir } from "../../../../support/temp-dir.ts";
import { failure, filesBelow } from "../worktree-world.ts";
import { AT_MS, pictureOf, type SalvageWorld, SESSION, salvageWorld } from "./salvage-world.ts";

/** A worktree made again, and a salvage with work of all kinds. */
async function keptWorld() {
  const world = salvageWorld();
  world.write("tracked.txt", "changed\n");
  rmSync(join(world.path, "run.sh"));
  world.write("notes.txt", "mine\n");
  world.write("dir/inner.txt", "inner\n");
  world.write("staged.txt", "staged\n");
  world.git("add", "staged.txt");
  world.write(".env", "SECRET=1\n");
  const outcome = await world.salvage([".env"]);
  if (outcome.kind !== "kept") throw new Error("nothing was kept");
  world.makeAnew();
  return { ...world, commit: outcome.commit };
}

interface Row {
  readonly name: string;
  readonly at: readonly string[];
  build(world: SalvageWorld): void;
}

const rows: readonly Row[] = [
  {
    name: "an untracked file of other content",
    at: ["notes.txt"],
    build: (w) => w.write("notes.txt", "x\n"),
  },
  { name: "a changed file", at: ["tracked.txt"], build: (w) => w.write("tracked.txt", "other\n") },
  {
    name: "a changed file that was deleted then",
    at: ["run.sh"],
    build: (w) => w.write("run.sh", "other\n"),
  },
  { name: "an ignored file of other content", at: [".env"], build: (w) => w.write(".env", "SECRET=2\n") },
  {
    name: "a folder in the place of a file",
    at: ["notes.txt"],
    build: (w) => w.write("notes.txt/inner.txt", "x\n"),
  },
  { name: "a file in the place of a folder", at: ["dir/inner.txt"], build: (w) => w.write("dir", "x\n") },
  {
    name: "a link in the place of a folder",
    at: ["dir/inner.txt"],
    build: (w) => symlinkSync(tempDir("ao-elsewhere"), join(w.path, "dir")),
  },
  {
    name: "a link in the place of a file",
    at: ["notes.txt"],
    build: (w) => symlinkSync("/nowhere", join(w.path, "notes.txt")),
  },
  {
    name: "something staged",
    at: ["index"],
    build(w) {
      w.write("theirs.txt", "x\n");
      w.git("add", ".");
    },
  },
  {
    name: "a commit on the branch",
    at: ["HEAD"],
    build: (w) => void w.git("commit", "-q", "--allow-empty", "-m", "later"),
  },
  {
    name: "a branch that is gone",
    at: ["HEAD"],
    build(w) {
      w.git("checkout", "-q", "--detach");
      w.git("branch", "-qD", "feat/1");
    },
  },
  {
    name: "a branch that is checked out elsewhere",
    at: ["HEAD"],
    build(w) {
      w.git("checkout", "-q", "--detach");
      w.repository.git("worktree", "add", "-q", join(tempDir("ao-other"), "other"), "feat/1");
    },
  },
  {
    name: "a merge under way",
    at: ["MERGE_HEAD"],
    build(w) {
      w.repository.git("checkout", "-q", "-b", "side");
      w.repository.commit("side.txt", "side\n");
      w.git("merge", "-q", "--no-commit", "--no-ff", "-s", "ours", "side");
    },
  },
  {
    name: "refs of its own that point elsewhere",
    at: ["refs/worktree/mine"],
    build: (w) => void w.git("update-ref", "refs/worktree/mine", "HEAD"),
  },
];

describe("nothing is put back over", () => {
  test.each(rows.map((row) => [row.name, row] as const))("%s", async (_name, { at, build }) => {
    const world = await keptWorld();
    build(world);
    const before = pictureOf(world.path);
    const error = await failure(world.putBack(world.commit), "salvage_conflict");
    expect(error.details).toMatchObject({ conflicts: at.map((path) => ({ path })) });
    expect(pictureOf(world.path)).toEqual(before);
  });

  test("a link that leads out of the worktree: nothing is written behind it", async () => {
    const elsewhere = tempDir("ao-elsewhere");
    const world = salvageWorld();
    world.write("dir/inner.txt", "inner\n");
    world.git("add", ".");
    world.git("commit", "-qm", "dir");
    world.write("dir/inner.txt", "changed\n");
    world.write("dir/more.txt", "more\n");
    const outcome = await world.salvage();
    world.makeAnew();
    rmSync(join(world.path, "dir"), { recursive: true });
    symlinkSync(elsewhere, join(world.path, "dir"));
    await failure(world.putBack(outcome.kind === "kept" ? outcome.commit : ""), "salvage_conflict");
    expect(filesBelow(elsewhere)).toEqual([]);
  });
});

describe("work is put back beside", () => {
  test("what is the same already, what is of somebody else, and empty folders in its place", async () => {
    const world = await keptWorld();
    world.write("notes.txt", "mine\n");
    world.write("theirs.txt", "theirs\n");
    mkdirSync(join(world.path, "dir/inner.txt/empty"), { recursive: true });
    await world.putBack(world.commit);
    const { status } = pictureOf(world.path);
    for (const name of ["? notes.txt", "? theirs.txt", "? dir/inner.txt", "A. "])
      expect(status).toContain(name);
  });

  test("a HEAD that was moved to another branch, or off its branch: it goes back", async () => {
    const world = await keptWorld();
    world.git("checkout", "-q", "-b", "elsewhere");
    await world.putBack(world.commit);
    expect(world.git("symbolic-ref", "HEAD")).toBe("refs/heads/feat/1");
  });
});

describe("a rewind", () => {
  async function rewoundWorld() {
    const world = salvageWorld();
    const keeping = await world.keeping();
    const turn = (turnId: string) =>
      takeCheckpoint(keeping, { sessionId: SESSION, turnId: turnId as TurnId, edge: "end", atMs: AT_MS });
    const rewind = async (checkpoint: string) => {
      const held = await world.salvage();
      return rewindFiles(keeping, { checkpoint, salvage: held.kind === "kept" ? held.commit : null });
    };
    return { ...world, turn, rewind };
  }

  test("brings files back with modes and links, and changes neither HEAD nor index", async () => {
    const { turn, rewind, ...world } = await rewoundWorld();
    world.write("notes.txt", "mine\n");
    world.write("tracked.txt", "one\r\n");
    world.git("update-index", "--chmod=+x", "folder/deep.txt");
    symlinkSync("tracked.txt", join(world.path, "link"));
    rmSync(join(world.path, "run.sh"));
    const { files } = pictureOf(world.path);
    const { commit } = await turn("turn-1");
    world.write("run.sh", "again\n");
    rmSync(join(world.path, "link"));
    world.write("link/inner.txt", "inner\n");
    world.write("notes.txt", "more\n");
    world.git("add", "-A");
    world.git("commit", "-qm", "later");
    world.write("tracked.txt", "later\n");
    const { head, index } = pictureOf(world.path);
    await rewind(commit);
    expect(pictureOf(world.path)).toMatchObject({ files, head, index });
  });

  test("leaves repositories inside, what is ignored, and what a sparse checkout leaves out", async () => {
    const { turn, rewind, ...world } = await rewoundWorld();
    world.git("sparse-checkout", "set", "--no-cone", "/*", "!folder");
    world.write("notes.txt", "mine\n");
    const { commit } = await turn("turn-1");
    world.write("notes.txt", "more\n");
    world.write(".env", "SECRET=1\n");
    gitIn(world.path, "init", "-q", "inner");
    world.write("inner/own.txt", "own\n");
    await rewind(commit);
    const { files } = pictureOf(world.path, ["inner/.git"]);
    const names = files.map((line) => line.split(" ")[0]);
    expect(names).toEqual(expect.arrayContaining([".env", "inner/own.txt", "notes.txt"]));
    expect(names).not.toContain("folder");
  });

  test("of a checkpoint in the middle of a merge brings its files back", async () => {
    const { turn, rewind, ...world } = await rewoundWorld();
    world.repository.commit("tracked.txt", "theirs\n");
    world.write("tracked.txt", "ours\n");
    world.git("commit", "-qam", "ours");
    world.tryGit("merge", "main");
    const { files } = pictureOf(world.path);
    const { commit } = await turn("turn-1");
    world.write("tracked.txt", "settled\n");
    await rewind(commit);
    expect(pictureOf(world.path).files).toEqual(files);
  });
});
