import { closeSync, existsSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { takeCheckpoint } from "../../../../../src/adapters/worktree/salvage/checkpoints.ts";
import { rewindFiles } from "../../../../../src/adapters/worktree/salvage/rewind.ts";
import { AoError } from "../../../../../src/domain/errors.ts";
import type { TurnId } from "../../../../../src/domain/ids.ts";
import type { FaultPoint } from "../../../../../src/ports/fault-point.ts";
import type { Fence } from "../../../../../src/ports/fence.ts";
import { failure } from "../worktree-world.ts";
import { AT_MS, pictureOf, SESSION, salvageWorld } from "./salvage-world.ts";

/** A worktree with work of a later turn: a rewind removes `new.txt` and `newer.txt` and writes `notes.txt` over. */
async function laterWorld() {
  const world = salvageWorld();
  const turn = { sessionId: SESSION, turnId: "turn-1" as TurnId, edge: "end", atMs: AT_MS } as const;
  world.write("notes.txt", "first\n");
  const { commit: checkpoint } = await takeCheckpoint(await world.keeping(), turn);
  world.write("notes.txt", "second\n");
  world.write("new.txt", "new\n");
  world.write("newer.txt", "newer\n");
  const held = await world.salvage();
  const salvage = held.kind === "kept" ? held.commit : null;
  return {
    ...world,
    read: (file: string) => readFileSync(join(world.path, file), "utf8"),
    rewind: async (boundary: FaultPoint, fence?: Fence) =>
      rewindFiles(await world.keeping(boundary, fence), { checkpoint, salvage }),
    leftovers: () => readdirSync(world.path).filter((name) => name.startsWith(".ao-")),
  };
}

/** Does something once, at the n-th crossing of a boundary. */
function at(name: string, work: () => void, nth = 1): FaultPoint {
  let seen = 0;
  return async (boundary) => {
    if (boundary === name) seen += 1;
    if (boundary === name && seen === nth) work();
  };
}

describe("what is written while a rewind puts files back", () => {
  test.each([
    ["a file that is to go", "new.txt", "new\nmore\n"],
    ["a file that goes later", "newer.txt", "more\n"],
    ["a file that is to be replaced", "notes.txt", "third\n"],
  ])("stays: %s", async (_name, file, text) => {
    const world = await laterWorld();
    const rewinding = world.rewind(at("rewind.file:before", () => world.write(file, text)));
    const error = await failure(rewinding, "salvage_conflict");
    expect(error.details).toMatchObject({ conflicts: [{ path: file }] });
    expect(world.read(file)).toBe(text);
    expect(world.leftovers()).toEqual([]);
  });

  test("stays where a file is put that was not there", async () => {
    const world = await laterWorld();
    rmSync(join(world.path, "notes.txt"));
    const held = await world.salvage();
    expect(held.kind).toBe("kept");
    const rewinding = world.rewind(at("rewind.file:before", () => world.write("notes.txt", "mine\n")));
    await failure(rewinding, "salvage_conflict");
    expect(world.read("notes.txt")).toBe("mine\n");
  });

  test("stays when it is written through a file that was open before", async () => {
    const world = await laterWorld();
    const open = openSync(join(world.path, "new.txt"), "a");
    const write = at("rewind.file:after", () => writeSync(open, "late\n"), 3);
    await failure(world.rewind(write), "salvage_conflict");
    closeSync(open);
    expect(world.read("new.txt")).toBe("new\nlate\n");
    expect(world.leftovers()).toEqual([]);
  });

  test("lets the rest be put back by the next try", async () => {
    const world = await laterWorld();
    await failure(
      world.rewind(at("rewind.file:before", () => world.write("new.txt", "x\n"))),
      "salvage_conflict",
    );
    world.write("new.txt", "new\n");
    await world.rewind(async () => {});
    expect(existsSync(join(world.path, "new.txt"))).toBe(false);
    expect(world.read("notes.txt")).toBe("first\n");
    expect(world.leftovers()).toEqual([]);
  });

  test("comes back after a rewind that died once it had moved a file aside", async () => {
    const world = await laterWorld();
    const [scratch = ""] = await scratchOf(world);
    world.write(`${scratch}/aside/new.txt`, "moved and not looked at\n");
    rmSync(join(world.path, "new.txt"));
    await failure(
      world.rewind(async () => {}),
      "salvage_conflict",
    );
    expect(world.read("new.txt")).toBe("moved and not looked at\n");
  });

  test("is named with where it lies when something else came to where it was", async () => {
    const world = await laterWorld();
    const [scratch = ""] = await scratchOf(world);
    world.write(`${scratch}/aside/new.txt`, "moved and not looked at\n");
    const error = await failure(
      world.rewind(async () => {}),
      "salvage_conflict",
    );
    expect(error.message).toContain(`${scratch}/aside/new.txt`);
    expect(world.read(`${scratch}/aside/new.txt`)).toBe("moved and not looked at\n");
  });
});

/** The name of the folder that a rewind works with. */
async function scratchOf(world: Awaited<ReturnType<typeof laterWorld>>): Promise<readonly string[]> {
  let names: readonly string[] = [];
  const look: FaultPoint = async () => {
    names = world.leftovers();
    throw new Error("died");
  };
  await world.rewind(look).catch(() => undefined);
  return names;
}

test.each(["rewind.file:before", "rewind.file:after"])(
  "a rewind that fails at %s leaves nothing of its own, and the next one does the rest",
  async (boundary) => {
    for (const nth of [1, 2, 3]) {
      const world = await laterWorld();
      const full = () => {
        throw Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
      };
      await expect(world.rewind(at(boundary, full, nth))).rejects.toThrow("ENOSPC");
      expect(world.leftovers()).toEqual([]);
      await world.rewind(async () => undefined);
      expect(world.read("notes.txt")).toBe("first\n");
      expect([existsSync(join(world.path, "new.txt")), world.leftovers()]).toEqual([false, []]);
    }
  },
);

describe("after the work was taken over", () => {
  const lost = new AoError("operation_in_progress", "taken over");

  test("a rewind changes nothing more, whatever is written since", async () => {
    const world = await laterWorld();
    let isLost = false;
    const fence = () => {
      if (isLost) throw lost;
    };
    const lose = at(
      "rewind.file:before",
      () => {
        isLost = true;
        world.write("after.txt", "after\n");
      },
      2,
    );
    await failure(world.rewind(lose, fence), "operation_in_progress");
    expect(world.read("newer.txt")).toBe("newer\n");
    expect(world.read("notes.txt")).toBe("second\n");
  });

  test.each([
    "put_back.file:before",
    "put_back.git_state:before",
    "put_back.index:before",
    "put_back.head:before",
  ])("a put-back changes nothing from %s on", async (name) => {
    const world = salvageWorld();
    world.write("tracked.txt", "changed\n");
    world.write("staged.txt", "staged\n");
    world.git("add", "staged.txt");
    world.git("checkout", "-q", "--detach");
    const kept = await world.salvage();
    world.makeAnew();
    let picture: unknown;
    let isLost = false;
    const fence = () => {
      if (isLost) throw lost;
    };
    const lose = at(name, () => {
      isLost = true;
      picture = pictureOf(world.path);
    });
    await failure(
      world.putBack(kept.kind === "kept" ? kept.commit : "", lose, fence),
      "operation_in_progress",
    );
    expect(pictureOf(world.path)).toEqual(picture);
  });

  test("a salvage makes no ref", async () => {
    const world = salvageWorld();
    world.write("tracked.txt", "changed\n");
    const fence = () => {
      throw lost;
    };
    const { keepWork } = await import("../../../../../src/adapters/worktree/salvage/keep-work.ts");
    const keeping = keepWork(await world.keeping(async () => {}, fence), {
      ...{ sessionId: SESSION, reason: "kill", atMs: AT_MS },
      chosen: { paths: [], unkeepable: [], special: [], isWork: false },
    });
    await failure(keeping, "operation_in_progress");
    expect(world.git("for-each-ref", "refs/ao/")).toBe("");
  });
});
