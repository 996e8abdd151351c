import { describe, expect, test } from "vitest";
import { workspaceRef } from "../../../src/lifecycle/session-refs.ts";
import { sessionId } from "../../support/builders.ts";
import { salvageListSchema, salvageSchema } from "../../support/json-schemas.ts";
import { memoryCli } from "../../support/memory-cli.ts";
import { aSettledTurn } from "../../support/turns.ts";
import { aWorld, type World } from "../../support/world.ts";

const ID = sessionId("app-1");
const PATH = "/data/worktrees/app/app-1";
const REF = "refs/ao/salvage/app-1/1";

/** A session with work in its worktree. */
async function aWorkedWorld(): Promise<World> {
  const world = aWorld();
  await world.spawn();
  world.snapshots.work.write(PATH, "notes.txt", "mine\n");
  return world;
}

describe("kill --salvage", () => {
  test("says where the work is kept", async () => {
    const world = await aWorkedWorld();
    const { exitCode, stdout } = await memoryCli(world, ["kill", "app-1", "--salvage"]);
    expect({ exitCode, stdout }).toEqual({
      exitCode: 0,
      stdout: `app-1 killed, worktree freed, its work is kept in ${REF}\n`,
    });
    const again = await memoryCli(world, ["kill", "app-1", "--salvage", "--json"]);
    expect(JSON.parse(again.stdout)).toMatchObject({ salvageRef: REF, alreadyTerminated: true });
  });

  test("makes no sense with a worktree that is to stay", async () => {
    const { exitCode, stderr } = await memoryCli(await aWorkedWorld(), [
      "kill",
      "app-1",
      "--salvage",
      "--keep-worktree",
    ]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain("--salvage");
  });

  test("is offered by a kill that leaves a worktree", async () => {
    const { exitCode, stderr } = await memoryCli(await aWorkedWorld(), ["kill", "app-1"]);
    expect(exitCode).toBe(4);
    expect(stderr).toContain("ao kill app-1 --salvage");
  });
});

describe("what a salvage holds by name alone is named", () => {
  const SOCKET = { path: "agent.sock", kind: "socket" } as const;

  async function aWorldWithSocket(): Promise<World> {
    const world = await aWorkedWorld();
    world.snapshots.work.addSpecial(PATH, { path: "queue", kind: "pipe" });
    world.snapshots.work.addSpecial(PATH, SOCKET);
    return world;
  }

  test("by kill, show and restore", async () => {
    const world = await aWorldWithSocket();
    expect((await memoryCli(world, ["kill", "app-1", "--salvage"])).stderr).toContain("socket agent.sock");
    const { stdout } = await memoryCli(world, ["salvage", "show", "app-1"]);
    expect(stdout).toMatch(/pipe +queue {2}comes back empty\n.*socket +agent\.sock {2}does not come back/);
    const json = await memoryCli(world, ["salvage", "show", "app-1", "--json"]);
    expect(JSON.parse(json.stdout)).toMatchObject({ special: [{ path: "queue", kind: "pipe" }, SOCKET] });
    const { stderr } = await memoryCli(world, ["restore", "app-1"]);
    expect(stderr).toMatch(/not made again.*socket agent\.sock/);
    expect(stderr).not.toContain("queue");
  });

  test("by cleanup", async () => {
    const world = await aWorldWithSocket();
    await memoryCli(world, ["kill", "app-1", "--keep-worktree"]);
    const { stderr } = await memoryCli(world, ["cleanup", "--salvage"]);
    expect(stderr).toContain("app-1: kept by name alone");
  });
});

describe("cleanup --salvage", () => {
  test("frees what its dry run names", async () => {
    const world = await aWorkedWorld();
    await memoryCli(world, ["kill", "app-1", "--keep-worktree"]);
    expect((await memoryCli(world, ["cleanup", "--salvage", "--dry-run"])).stdout).toBe("would free app-1\n");
    const { stdout } = await memoryCli(world, ["cleanup", "--salvage", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({
      cleaned: [{ id: "app-1", salvageRef: REF }],
      skipped: [],
      errors: [],
    });
  });
});

describe("restore", () => {
  test("says what was put back, and leaves it when it is told to", async () => {
    const world = await aWorkedWorld();
    await memoryCli(world, ["kill", "app-1", "--salvage"]);
    const { exitCode, stderr } = await memoryCli(world, ["restore", "app-1"]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: expect.stringContaining(REF) });
    expect(world.snapshots.work.state(PATH).files.get("notes.txt")).toBe("mine\n");
    await memoryCli(world, ["kill", "app-1", "--salvage"]);
    expect((await memoryCli(world, ["restore", "app-1", "--no-salvage"])).exitCode).toBe(0);
    expect(world.snapshots.work.state(PATH).files.has("notes.txt")).toBe(false);
  });
});

describe("salvage", () => {
  async function kept(): Promise<World> {
    const world = await aWorkedWorld();
    await memoryCli(world, ["kill", "app-1", "--salvage"]);
    return world;
  }

  test("list shows what is kept, for people and for scripts", async () => {
    const world = await kept();
    const { stdout } = await memoryCli(world, ["salvage", "list"]);
    expect(stdout).toContain("app-1/1");
    const listed = await memoryCli(world, ["salvage", "list", "app-1", "--json"]);
    expect(salvageListSchema.parse(JSON.parse(listed.stdout)).data).toMatchObject([
      { ref: REF, reason: "kill" },
    ]);
  });

  test("list says when nothing is kept, and nothing with --json", async () => {
    const world = aWorld();
    expect(await memoryCli(world, ["salvage", "list"])).toMatchObject({ exitCode: 0, stdout: "" });
    const { stdout, stderr } = await memoryCli(world, ["salvage", "list", "--json"]);
    expect({ data: JSON.parse(stdout), stderr }).toEqual({ data: { data: [] }, stderr: "" });
  });

  test("show names each file and what had become of it", async () => {
    const world = await kept();
    const { stdout } = await memoryCli(world, ["salvage", "show", "app-1"]);
    expect(stdout).toMatch(/untracked +notes\.txt +5 bytes/);
    const shown = await memoryCli(world, ["salvage", "show", "app-1/1", "--json"]);
    expect(salvageSchema.parse(JSON.parse(shown.stdout)).files).toEqual([
      { path: "notes.txt", kind: "untracked", bytes: 5 },
    ]);
  });

  test("restore puts one back into a worktree that stands, and refuses where anything is in the way", async () => {
    const world = await kept();
    expect(await memoryCli(world, ["salvage", "restore", "app-1/1"])).toMatchObject({ exitCode: 4 });
    await memoryCli(world, ["restore", "app-1", "--no-salvage"]);
    const { deps } = world;
    const live = deps.turns.live(ID);
    if (live !== undefined) await memoryCli(world, ["kill", "app-1", "--keep-worktree"]);
    const { stdout, stderr, exitCode } = await memoryCli(world, ["salvage", "restore", "app-1/1"]);
    expect({ stdout, stderr, exitCode }).toEqual({
      stdout: "1 file of app-1 put back\n",
      stderr: "",
      exitCode: 0,
    });
    world.snapshots.work.write(PATH, "notes.txt", "other\n");
    const refused = await memoryCli(world, ["salvage", "restore", "app-1/1", "--json"]);
    expect(refused.exitCode).toBe(4);
    expect(JSON.parse(refused.stderr)).toMatchObject({ error: { code: "salvage_conflict" } });
  });

  test("drop gives one up, and says how to have it back", async () => {
    const world = await kept();
    const { stdout, stderr } = await memoryCli(world, ["salvage", "drop", "app-1/1"]);
    expect(stdout).toBe("app-1/1 dropped\n");
    expect(stderr).toContain(`update-ref ${REF}`);
    const missing = await memoryCli(world, ["salvage", "show", "app-1/1"]);
    expect(missing.exitCode).toBe(3);
    const { stderr: warning } = await memoryCli(world, ["restore", "app-1"]);
    expect(warning).toContain("dropped");
  });
});

test.each([["--salvage"], ["--keep-worktree"]])(
  "a kill of several that failed for one says how to repeat it with %s",
  async (flag) => {
    const world = aWorld();
    const ids = [(await world.spawn()).id, (await world.spawn({ issueId: "43" })).id];
    const { exitCode, stderr } = await memoryCli(world, ["kill", ...ids, flag], { interrupted: true });
    expect(exitCode).toBe(130);
    expect(stderr).toContain(`for these alone: ao kill ${flag} ${ids.join(" ")}\n`);
  },
);

describe("rewind", () => {
  test("puts the files back, and says where what was there is kept", async () => {
    const world = await aWorkedWorld();
    await memoryCli(world, ["kill", "app-1", "--keep-worktree"]);
    const turn = aSettledTurn({ sequence: 10 });
    world.deps.turns.insert(turn);
    const record = world.row(ID);
    const taken = await world.deps.snapshots.take(workspaceRef(record), turn.turnId, "end");
    if (taken !== null) world.deps.turns.keepCheckpoint(turn, "end", taken);
    world.snapshots.work.write(PATH, "notes.txt", "later\n");
    const { exitCode, stdout, stderr } = await memoryCli(world, ["rewind", "app-1", "--to", "turn-1"]);
    expect({ exitCode, stdout }).toEqual({
      exitCode: 0,
      stdout: "app-1 has the files of the end of turn turn-1\n",
    });
    expect(stderr).toContain(REF);
    const again = await memoryCli(world, ["rewind", "app-1", "--to", "turn-1", "--json"]);
    expect(JSON.parse(again.stdout)).toMatchObject({ id: "app-1", turnId: "turn-1" });
    const numbered = await memoryCli(world, ["rewind", "app-1", "--to", "10", "--json"]);
    expect(JSON.parse(numbered.stdout)).toMatchObject({ id: "app-1", turnId: "turn-1" });
  });

  test.each([
    [["rewind", "app-1"], 2],
    [["rewind", "app-1", "--to", "no/turn"], 2],
    [["rewind", "app-1", "--to", "nobody"], 3],
    [["rewind", "app-1", "--to", "99"], 3],
    [["rewind", "app-9", "--to", "turn-1"], 3],
  ])("%j exits with %i", async (argv, exitCode) => {
    expect(await memoryCli(await aWorkedWorld(), argv)).toMatchObject({ exitCode, stdout: "" });
  });
});
