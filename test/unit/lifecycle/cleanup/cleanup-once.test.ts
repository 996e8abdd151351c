import { describe, expect, test } from "vitest";
import { memoryLocks } from "../../../../src/adapters/memory/locks.ts";
import { AoError } from "../../../../src/domain/errors.ts";
import { type CleanupRequest, cleanup } from "../../../../src/lifecycle/cleanup/cleanup-once.ts";
import type { SessionDeps } from "../../../../src/lifecycle/deps.ts";
import { killSession } from "../../../../src/lifecycle/kill/kill-session.ts";
import { reconcile } from "../../../../src/lifecycle/recovery/reconcile.ts";
import { projectId, sessionId } from "../../../support/builders.ts";
import { inProcess } from "../../../support/crashing.ts";
import { aWorld, type World } from "../../../support/world.ts";

const EMPTY = sessionId("app-1");
const WORKED = sessionId("app-2");
const USED = sessionId("app-3");
const SPARE = sessionId("ao-pool-1");
const pathOf = (id: string) => `/data/worktrees/app/${id}`;

const REQUEST: CleanupRequest = {
  ...{ projectId: null, dryRun: false, olderThanMs: null, salvage: true, deleteMergedBranches: true },
  requestId: "nightly",
};

const run =
  (overrides: Partial<CleanupRequest> = {}) =>
  (deps: SessionDeps) =>
    cleanup(deps, { ...REQUEST, ...overrides });

/** What an undisturbed run of it comes to in `aNeglectedWorld`. */
const REPORT = {
  cleaned: [
    { id: EMPTY, projectId: "app", salvageRef: null, remains: null, branchDeleted: "feat/1" },
    {
      ...{ id: WORKED, projectId: "app", salvageRef: `refs/ao/salvage/${WORKED}/1` },
      ...{ remains: null, branchDeleted: null },
    },
  ],
  branchesDeleted: [],
  skipped: [{ id: USED, projectId: "app", reason: "in_use", detail: "a process works in it" }],
  errors: [],
  dryRun: false,
  pool: [{ projectId: "app", where: pathOf(SPARE), action: "removed", detail: "no pool is asked for" }],
  poolErrors: [],
};

/** Three sessions that are over, each with its worktree, one at work, and a worktree made ahead for nobody. */
async function aNeglectedWorld(): Promise<World> {
  const world = aWorld();
  for (const issueId of ["1", "2", "3", "4"]) await world.spawn({ issueId });
  const how = { reason: "manual", note: null, keepWorktree: true, callerSessionId: null } as const;
  for (const id of [EMPTY, WORKED, USED]) await killSession(world.deps, id, how);
  world.workspace.mergeBranch("/repo/app", "feat/1");
  world.snapshots.work.write(pathOf(WORKED), "notes.txt", "mine\n");
  const inUse = { kind: "in_use", detail: "a process works in it", items: [], count: 1 } as const;
  world.workspace.refuse(pathOf(USED), [inUse]);
  const spec = {
    ...{ projectId: projectId("app"), sessionId: SPARE, repositoryPath: "/repo/app", path: pathOf(SPARE) },
    ...{ branch: "spare", baseRef: null, defaultBranch: "main", env: {}, operationId: null },
    postCreate: { symlinks: [], copy: [], commands: [], timeoutMs: 1 },
  };
  await world.deps.workspace.create(spec, await world.deps.workspace.plan(spec));
  const marked = async () => {
    const all = await world.workspace.marked();
    return all.map((one) => (one.ref.sessionId === SPARE ? { ...one, spare: { baseCommit: "c" } } : one));
  };
  return { ...world, deps: { ...world.deps, workspace: { ...world.deps.workspace, marked } } };
}

/** The locks of a process go with it. */
const killed = (world: World, crashAt: number, work: (deps: SessionDeps) => Promise<unknown>) =>
  inProcess(world, { crashAt }, (deps) => work({ ...deps, locks: memoryLocks() }));

const changed = ({ log }: World) => log.filter((call) => /destroy|create|salvage |deleteMerged/.test(call));

describe("a cleanup under a request id", () => {
  test("gives its report again, in the same words, and does nothing, whatever happened since", async () => {
    const world = await aNeglectedWorld();
    const first = await run()(world.deps);
    expect(first).toEqual(REPORT);
    await world.restore(WORKED);
    await world.kill(WORKED).catch(() => undefined);
    world.workspace.allow(pathOf(USED));
    world.clearLog();
    expect(JSON.stringify(await run()(world.deps))).toBe(JSON.stringify(first));
    expect(changed(world)).toEqual([]);
    expect(world.workspace.exists(pathOf(USED))).toBe(true);
  });

  test.each<[string, Partial<CleanupRequest>]>([
    ["scope", { projectId: projectId("app") }],
    ["age", { olderThanMs: 1000 }],
    ["word on work", { salvage: false }],
    ["word on branches", { deleteMergedBranches: false }],
  ])("is a conflict when it is repeated with another %s, and nothing is done", async (_what, overrides) => {
    const world = await aNeglectedWorld();
    await run()(world.deps);
    world.clearLog();
    await expect(run(overrides)(world.deps)).rejects.toMatchObject({ code: "request_conflict" });
    expect(changed(world)).toEqual([]);
  });

  test("is another one than that of another id, and than one without", async () => {
    const world = await aNeglectedWorld();
    await run()(world.deps);
    world.workspace.allow(pathOf(USED));
    expect(await run({ requestId: "weekly" })(world.deps)).toMatchObject({ cleaned: [{ id: USED }] });
    await world.restore(EMPTY);
    await world.kill(EMPTY);
    expect(await run({ requestId: null })(world.deps)).toMatchObject({ cleaned: [], skipped: [] });
  });

  test("ends as if never interrupted when it is killed at any boundary, with a reconcile between or not", async () => {
    const { crossed } = await inProcess(await aNeglectedWorld(), {}, run());
    expect(crossed.length).toBeGreaterThan(30);
    // Before that, what reconcile finds of worktrees made ahead is its own.
    const planned = crossed.indexOf("cleanup.planned:after");
    for (let crashAt = 1; crashAt <= crossed.length; crashAt++) {
      const world = await aNeglectedWorld();
      const { ending } = await killed(world, crashAt, run());
      const isReconciled = crashAt % 2 === 0;
      if (isReconciled) expect((await reconcile(world.deps)).errors).toEqual([]);
      const report = isReconciled && crashAt <= planned ? { ...REPORT, pool: [] } : REPORT;
      expect({ ending, report: await run()(world.deps) }).toEqual({ ending, report });
      expect(world.deps.operations.unfinished().operations).toEqual([]);
      expect(await run()(world.deps)).toEqual(report);
    }
  });

  test("ends the same when its recovery is killed as well", async () => {
    const { crossed } = await inProcess(await aNeglectedWorld(), {}, run());
    for (
      let crashAt = crossed.indexOf("cleanup.planned:after") + 1;
      crashAt <= crossed.length;
      crashAt += 5
    ) {
      for (let again = 1; again <= 30; again += 3) {
        const world = await aNeglectedWorld();
        const { ending: first } = await killed(world, crashAt, run());
        const { ending: second } = await killed(world, again, reconcile);
        const report = await run()(world.deps);
        expect({ first, second: second.kind === "crashed" && second.at, report }).toMatchObject({
          report: REPORT,
        });
      }
    }
  });

  test("tells no worktree made ahead as removed that went by other means", async () => {
    const world = await aNeglectedWorld();
    await inProcess(world, { crashAtBoundary: "cleanup.planned:after" }, run());
    world.workspace.vanish(pathOf(SPARE));
    expect(await run()(world.deps)).toEqual({ ...REPORT, pool: [] });
  });

  test("leaves a session alone that was restored before its turn came", async () => {
    const world = await aNeglectedWorld();
    await inProcess(world, { crashAtBoundary: "cleanup.planned:after" }, run());
    // Restored by a process that does not recover: the run is carried on later.
    const row = world.row(EMPTY);
    const launched = {
      ...row,
      metadata: { ...row.metadata, launchId: world.row(sessionId("app-4")).metadata.launchId },
    };
    world.deps.store.save(launched, row.lifecycle.revision);
    const { cleaned, skipped } = await run()(world.deps);
    expect(cleaned.map(({ id }) => id)).toEqual([WORKED]);
    expect(skipped).toMatchObject([{ id: EMPTY, reason: "operation_in_progress" }, { id: USED }]);
    expect(world.workspace.exists(pathOf(EMPTY))).toBe(true);
  });

  test("that is interrupted tells what it did, and its repeat goes on from there and tells all", async () => {
    const world = await aNeglectedWorld();
    const steps: string[] = [];
    const onStep = (step: string) => void steps.push(step);
    const isStopped = () => steps.some((step) => step.startsWith("freeing"));
    const stopped = await run({ onStep, isStopped })(world.deps);
    expect(stopped.cleaned.map(({ id }) => id)).toEqual([EMPTY]);
    expect(world.workspace.exists(pathOf(WORKED))).toBe(true);
    expect(await run()(world.deps)).toEqual(REPORT);
  });

  test("that was interrupted shows its steps and can be interrupted again however long after it is repeated", async () => {
    const world = await aNeglectedWorld();
    const steps: string[] = [];
    const onStep = (step: string) => void steps.push(step);
    await run({ onStep, isStopped: () => steps.some((step) => step.startsWith("freeing")) })(world.deps);
    world.clock.advance(60_000);
    steps.splice(0);
    expect(await run({ onStep, isStopped: () => true })(world.deps)).toMatchObject({ errors: [] });
    expect(world.workspace.exists(pathOf(WORKED))).toBe(true);
    expect(await run({ onStep })(world.deps)).toEqual(REPORT);
    expect(steps).not.toEqual([]);
  });

  test("that is interrupted before it has made its plan did nothing, and its repeat begins anew", async () => {
    const world = await aNeglectedWorld();
    const stopped = await run({ isStopped: () => true })(world.deps);
    expect(stopped).toMatchObject({ cleaned: [], skipped: [], pool: [] });
    expect(await run()(world.deps)).toEqual(REPORT);
  });

  test("that git kept from doing anything has failed, and its repeat begins anew", async () => {
    const world = await aNeglectedWorld();
    world.workspace.failNext("destroy", new AoError("git_unavailable", "no git"));
    await expect(run()(world.deps)).rejects.toMatchObject({ code: "git_unavailable" });
    expect(await run()(world.deps)).toEqual(REPORT);
  });

  test("that git stops after an earlier process has freed a worktree keeps its plan, and tells all in the end", async () => {
    const world = await aNeglectedWorld();
    await inProcess(world, { crashAtBoundary: "cleanup.freed:before" }, (deps) =>
      run()({ ...deps, locks: memoryLocks() }),
    );
    const destroy = () => Promise.reject(new AoError("git_unavailable", "no git"));
    const workspace = { ...world.deps.workspace, destroy };
    await expect(run()({ ...world.deps, workspace })).rejects.toMatchObject({ code: "git_unavailable" });
    world.clock.advance(60_000);
    expect((await run()(world.deps)).cleaned.map(({ id }) => id)).toEqual([EMPTY, WORKED]);
  });

  test("tells of a session as an error while an earlier process has left it half done", async () => {
    const world = await aNeglectedWorld();
    await inProcess(world, { crashAtBoundary: "cleanup.workspace.destroy:before" }, (deps) =>
      run()({ ...deps, locks: memoryLocks() }),
    );
    world.workspace.failNext("destroy", new AoError("teardown_incomplete", "a folder is busy"));
    const { cleaned, errors } = await run()(world.deps);
    expect(cleaned.map(({ id }) => id)).toEqual([WORKED]);
    expect(errors).toMatchObject([{ id: EMPTY, message: expect.stringContaining("a folder is busy") }]);
    const [left] = world.deps.operations
      .unfinished()
      .operations.filter(({ sessionId }) => sessionId === null);
    expect(left?.lastError).toContain("a folder is busy");
    world.clock.advance(60_000);
    expect(await run()(world.deps)).toEqual(REPORT);
  });

  test("is refused while another process is at it", async () => {
    const world = await aNeglectedWorld();
    const boundary = (name: string) =>
      name === "cleanup.planned:after" ? new Promise<void>(() => undefined) : Promise.resolve();
    void run()({ ...world.deps, boundary });
    await expect.poll(() => world.deps.operations.unfinished().operations).toHaveLength(1);
    await expect(run()(world.deps)).rejects.toMatchObject({ code: "operation_in_progress" });
    expect(world.workspace.exists(pathOf(EMPTY))).toBe(true);
  });

  test("is no dry run", async () => {
    const { deps } = await aNeglectedWorld();
    await expect(run({ dryRun: true })(deps)).rejects.toMatchObject({ code: "usage" });
  });
});
