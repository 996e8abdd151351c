import { describe, expect, test } from "vitest";
import { AoError, isAoError } from "../../../../src/domain/errors.ts";
import type { TurnId } from "../../../../src/domain/ids.ts";
import type { TurnCheckpoint } from "../../../../src/domain/turn.ts";
import { killSession } from "../../../../src/lifecycle/kill/kill-session.ts";
import { observeSessions } from "../../../../src/lifecycle/observe/observe-sessions.ts";
import { reconcile } from "../../../../src/lifecycle/recovery/reconcile.ts";
import { findSalvage, listSalvages } from "../../../../src/lifecycle/salvage/find-salvage.ts";
import { putBackSession } from "../../../../src/lifecycle/salvage/put-back-session.ts";
import { rewindSession } from "../../../../src/lifecycle/salvage/rewind-session.ts";
import { workspaceRef } from "../../../../src/lifecycle/session-refs.ts";
import { projectId, sessionId } from "../../../support/builders.ts";
import { inProcess } from "../../../support/crashing.ts";
import { aSettledTurn, aTurnIn } from "../../../support/turns.ts";
import { aWorld, type World } from "../../../support/world.ts";

const ID = sessionId("app-1");
const PATH = "/data/worktrees/app/app-1";
const REF = "refs/ao/salvage/app-1/1";
const TURN = aSettledTurn().turnId;
const ALL = { projectId: null, sessionId: null };

const files = ({ snapshots }: World) => Object.fromEntries(snapshots.work.state(PATH).files);

const END = aSettledTurn({ sequence: 10 });

/** A killed session with its worktree, a turn whose end was kept, and more work since. */
async function aWorkedWorld(when: Pick<TurnCheckpoint, "takenAtMs"> = {}): Promise<World> {
  const world = aWorld();
  const record = await world.spawn();
  await killSession(world.deps, ID, {
    ...{ reason: "manual", note: null, keepWorktree: true, callerSessionId: null },
  });
  const { work } = world.snapshots;
  work.write(PATH, "notes.txt", "mine\n");
  world.deps.turns.insert(END);
  const taken = await world.deps.snapshots.take(workspaceRef(record), TURN, "end");
  if (taken !== null) world.deps.turns.keepCheckpoint(END, "end", { ...taken, ...when });
  work.write(PATH, "notes.txt", "more\n");
  work.write(PATH, "later.txt", "later\n");
  return world;
}

async function failure(promise: Promise<unknown>): Promise<AoError> {
  const error: unknown = await promise.catch((thrown: unknown) => thrown);
  if (isAoError(error)) return error;
  throw new Error(`expected an AoError, got ${JSON.stringify(error)}`, { cause: error });
}

describe("a rewind", () => {
  test("makes the files those of the turn's end, and keeps what was there", async () => {
    const world = await aWorkedWorld();
    const later = files(world);
    const result = await rewindSession(world.deps, ID, { turnId: TURN });
    expect(result).toEqual({ id: ID, turnId: TURN, salvageRef: REF, warnings: [] });
    expect(files(world)).toMatchObject({ "notes.txt": "mine\n" });
    expect(files(world)).not.toHaveProperty("later.txt");
    expect(await world.deps.snapshots.list("/repo/app")).toMatchObject([{ ref: REF, reason: "rewind" }]);
    await rewindSession(world.deps, ID, { turnId: TURN });
    const refused = await failure(putBackSession(world.deps, REF));
    expect(refused).toMatchObject({
      code: "salvage_conflict",
      hint: expect.stringMatching(
        /: ao kill app-1 --salvage, then ao restore app-1 --no-salvage, then ao salvage restore app-1\/1$/,
      ),
    });
    world.snapshots.work.write(PATH, "notes.txt", null);
    expect(await putBackSession(world.deps, "app-1/1")).toMatchObject({ id: ID, ref: REF });
    expect(files(world)).toEqual(later);
  });

  test("says when it is the first to look at the files of its turn", async () => {
    const world = aWorld();
    await world.spawn({ prompt: null });
    await observeSessions(world.deps);
    world.deps.turns.insert(aTurnIn({ kind: "running" }));
    world.clock.advance(10);
    await world.hear(ID, "stop");
    const deps = { ...world.deps, checkpoints: world.deps.snapshots };
    world.snapshots.work.write(PATH, "notes.txt", "by hand\n");
    const { warnings } = await rewindSession(deps, ID, { turnId: TURN });
    expect(warnings).toEqual([expect.stringContaining("nobody had looked at the files")]);
    expect(files(world)).toMatchObject({ "notes.txt": "by hand\n" });
  });

  test("says when the files of its turn are those of long after its end", async () => {
    const world = await aWorkedWorld({ takenAtMs: END.updatedAtMs + 3 * 3_600_000 });
    const { warnings } = await rewindSession(world.deps, ID, { turnId: TURN });
    expect(warnings).toEqual([expect.stringContaining("3 hours after its end")]);
  });

  test("needs a turn, and a checkpoint of its end", async () => {
    const world = await aWorkedWorld();
    const turnId = "nobody" as TurnId;
    expect((await failure(rewindSession(world.deps, ID, { turnId }))).code).toBe("turn_not_found");
    const bare = aSettledTurn({ turnId: "bare", sequence: 11 });
    world.deps.turns.insert(bare);
    expect((await failure(rewindSession(world.deps, ID, { turnId: bare.turnId }))).code).toBe(
      "checkpoint_not_found",
    );
    expect(await world.deps.snapshots.list("/repo/app")).toEqual([]);
  });

  test("leaves the files of a session that works", async () => {
    const world = aWorld();
    await world.spawn();
    world.deps.turns.insert(END);
    world.deps.turns.keepCheckpoint(END, "end", { ref: "refs/ao/checkpoints/app-1/turn-1", commit: "c" });
    world.deps.turns.insert(aTurnIn({ kind: "running" }, { turnId: "live", sequence: 11 }));
    const error = await failure(rewindSession(world.deps, ID, { turnId: TURN }));
    expect(error).toMatchObject({ code: "busy", hint: expect.stringContaining("ao cancel app-1") });
    expect(world.log.filter((call) => call.startsWith("snapshots."))).toEqual([]);
  });

  test("leaves the files of a session of which it cannot be seen whether its agent runs", async () => {
    const world = aWorld();
    await world.spawn();
    world.deps.turns.insert(END);
    world.deps.turns.keepCheckpoint(END, "end", { ref: "refs/ao/checkpoints/app-1/turn-1", commit: "c" });
    world.runtime.failNext("look", new AoError("runtime_unavailable", "tmux is gone"));
    const error = await failure(rewindSession(world.deps, ID, { turnId: TURN }));
    expect(error.code).toBe("runtime_unavailable");
    expect(world.log.filter((call) => call.startsWith("snapshots."))).toEqual([]);
  });

  test("needs a worktree", async () => {
    const world = await aWorkedWorld();
    for (const file of ["notes.txt", "later.txt"]) world.snapshots.work.write(PATH, file, null);
    await world.kill(ID);
    const error = await failure(rewindSession(world.deps, ID, { turnId: TURN }));
    expect(error).toMatchObject({ code: "workspace_freed", hint: "ao restore app-1" });
  });

  test("fails with all as it was when not everything can be kept", async () => {
    const world = await aWorkedWorld();
    const before = files(world);
    world.snapshots.spoil(PATH, [{ path: "pipe", why: "it is neither file, folder nor link" }]);
    expect((await failure(rewindSession(world.deps, ID, { turnId: TURN }))).code).toBe("workspace_dirty");
    expect(files(world)).toEqual(before);
    expect(world.deps.operations.unfinished().operations).toEqual([]);
  });

  test("that was killed anywhere is finished by whoever comes next, with one salvage", async () => {
    const first = await aWorkedWorld();
    const act = (world: World) => rewindSession(world.deps, ID, { turnId: TURN });
    const whole = await inProcess(first, {}, (deps) => act({ ...first, deps }));
    expect(whole.ending.kind).toBe("done");
    for (let crashAt = 1; crashAt <= whole.crossed.length; crashAt += 1) {
      const world = await aWorkedWorld();
      await inProcess(world, { crashAt }, (deps) => act({ ...world, deps }));
      await inProcess(world, {}, reconcile);
      const where = `killed at ${whole.crossed[crashAt - 1]}`;
      expect((await world.deps.snapshots.list("/repo/app")).length, where).toBeLessThan(2);
      await act(world);
      expect(files(world), where).toMatchObject({ "notes.txt": "mine\n" });
      const [held] = await world.deps.snapshots.list("/repo/app");
      expect(held?.ref, where).toBe(REF);
      const shown = await world.deps.snapshots.show("/repo/app", REF);
      expect(
        shown.files.map(({ path }) => path),
        where,
      ).toEqual(["later.txt", "notes.txt"]);
      expect(world.deps.operations.unfinished().operations, where).toEqual([]);
    }
  });

  test("that can never be carried on ends, and holds up nobody", async () => {
    const world = await aWorkedWorld();
    const crashAt = 7;
    const run = await inProcess(world, { crashAt }, (deps) => rewindSession(deps, ID, { turnId: TURN }));
    expect(run.ending).toMatchObject({ kind: "crashed", at: "rewind.files:before" });
    world.snapshots.work.write(PATH, "later.txt", "somebody else's\n");
    const { operations } = await reconcile(world.deps);
    expect(operations).toMatchObject([{ kind: "rewind", outcome: "undone" }]);
    expect(files(world)).toMatchObject({ "later.txt": "somebody else's\n", "notes.txt": "more\n" });
  });
});

describe("salvages", () => {
  test("are found by number, by ref, and the newest one by its session", async () => {
    const { deps, snapshots } = await aWorkedWorld();
    await deps.snapshots.salvage({
      workspace: workspaceRef(deps.store.list()[0] as never),
      reason: "by_hand",
      atMs: 1,
    });
    snapshots.work.write(PATH, "notes.txt", "newest\n");
    await deps.snapshots.salvage({
      workspace: workspaceRef(deps.store.list()[0] as never),
      reason: "by_hand",
      atMs: 2,
    });
    expect(await findSalvage(deps, "app-1/1")).toMatchObject({ number: 1, repositoryPath: "/repo/app" });
    expect(await findSalvage(deps, REF)).toMatchObject({ number: 1 });
    expect(await findSalvage(deps, "app-1")).toMatchObject({ number: 2 });
    for (const name of ["app-1/3", "app-2", "nonsense", "refs/heads/main"]) {
      expect((await failure(findSalvage(deps, name))).code).toBe("salvage_not_found");
    }
  });

  test("are listed for all, for a project, and for a session", async () => {
    const { deps } = await aWorkedWorld();
    await deps.snapshots.salvage({
      workspace: workspaceRef(deps.store.list()[0] as never),
      reason: "by_hand",
      atMs: 1,
    });
    const found = async (scope: Parameters<typeof listSalvages>[1]) =>
      (await listSalvages(deps, scope)).salvages.length;
    expect(await found(ALL)).toBe(1);
    expect(await found({ ...ALL, projectId: projectId("app") })).toBe(1);
    expect(await found({ ...ALL, projectId: projectId("other") })).toBe(0);
    expect(await found({ ...ALL, sessionId: ID })).toBe(1);
    expect(await found({ ...ALL, sessionId: sessionId("app-2") })).toBe(0);
  });

  test("of a repository that cannot be asked are an error beside the others", async () => {
    const { deps, snapshots } = await aWorkedWorld();
    snapshots.failNext("list", new AoError("git_failed", "there is no repository"));
    const { salvages, errors } = await listSalvages(deps, ALL);
    expect({ salvages, errors }).toEqual({
      salvages: [],
      errors: [{ repositoryPath: "/repo/app", message: "there is no repository" }],
    });
  });
});

test("a salvage is not told as missing while git cannot be asked", async () => {
  const { deps } = await aWorkedWorld();
  const list = () => Promise.reject(new AoError("git_failed", "fatal: no such luck"));
  const asked = { ...deps, snapshots: { ...deps.snapshots, list } };
  expect(await failure(findSalvage(asked, "app-1/1"))).toMatchObject({
    code: "git_unavailable",
    message: expect.stringContaining("no such luck"),
  });
});
