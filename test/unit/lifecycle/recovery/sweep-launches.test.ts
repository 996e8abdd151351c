import { expect, test } from "vitest";
import { dataLayout } from "../../../../src/domain/data-layout.ts";
import { AoError } from "../../../../src/domain/errors.ts";
import { observeSessions } from "../../../../src/lifecycle/observe/observe-sessions.ts";
import { reconcile } from "../../../../src/lifecycle/recovery/reconcile.ts";
import { spawnSession } from "../../../../src/lifecycle/spawn/spawn-session.ts";
import { launchId, sessionId } from "../../../support/builders.ts";
import { inProcess } from "../../../support/crashing.ts";
import { aSpawnRequest, aWorld, type World } from "../../../support/world.ts";

const ID = sessionId("app-1");
const LATER = sessionId("app-2");

/** The launch folders that hold something, as `<session>/<launch>`. */
function launches({ deps, files }: World): readonly string[] {
  const { launches: root } = dataLayout(deps.dataDir);
  const within = files.paths().filter((path) => path.startsWith(`${root}/`));
  return [
    ...new Set(
      within.map((path) =>
        path
          .slice(root.length + 1)
          .split("/")
          .slice(0, 2)
          .join("/"),
      ),
    ),
  ];
}

/** A file of a launch that nothing is recorded of. */
async function leave({ deps }: World, session: string, launch = "left"): Promise<void> {
  await deps.files.write(
    `${dataLayout(deps.dataDir).launchDir(sessionId(session))}/${launch}/prompt`,
    "words",
  );
}

function current(world: World): string {
  return `${ID}/${world.row(ID).metadata.launchId}`;
}

test("the files of a launch go when its agent is seen to have ended by itself", async () => {
  const world = aWorld();
  await world.spawn();
  expect(launches(world)).toEqual([current(world)]);
  world.runtime.exitAgent(ID, 0);
  await observeSessions(world.deps);
  expect(world.row(ID).lifecycle.session.state).toBe("terminated");
  expect(launches(world)).toEqual([]);
});

test("they stay while it cannot be seen whether it ended", async () => {
  const world = aWorld();
  await world.spawn();
  world.runtime.loseSight();
  await observeSessions(world.deps);
  expect(launches(world)).toEqual([current(world)]);
});

test("what cannot be removed then is removed by a reconcile, which first tells why it could not", async () => {
  const world = aWorld();
  await world.spawn();
  world.runtime.exitAgent(ID, 0);
  const locked = () => new AoError("data_dir_unusable", "EPERM");
  world.failNext("files.removeTree", locked());
  world.failNext("files.removeTree", locked());
  await observeSessions(world.deps);
  expect(launches(world)).toEqual([current(world)]);
  const told = { subject: `launch of ${ID}`, code: "data_dir_unusable", message: "EPERM" };
  expect((await reconcile(world.deps)).errors).toEqual([told]);
  expect((await reconcile(world.deps)).errors).toEqual([]);
  expect(launches(world)).toEqual([]);
});

test("a reconcile removes what was left of launches of nobody, and stops at none that it cannot remove", async () => {
  const world = aWorld();
  await world.spawn();
  await leave(world, ID);
  await leave(world, "app-7", "one");
  await leave(world, "app-7", "other");
  world.failNext("files.removeTree", new AoError("workspace_unsafe_path", "it is a link"));
  const { errors } = await reconcile(world.deps);
  expect(errors.map(({ code }) => code)).toEqual(["workspace_unsafe_path"]);
  expect(launches(world)).toHaveLength(2);
  expect(launches(world)).toContain(current(world));
});

test("a reconcile leaves the files of a launch that runs, recorded or not", async () => {
  const world = aWorld();
  await world.spawn();
  await leave(world, "app-7");
  await world.deps.runtime.create({
    ...{ sessionId: sessionId("app-7"), launchId: launchId("left"), workspacePath: "/w" },
    ...{ launchDir: "/launch", argv: ["/bin/agent"], env: {}, settleMs: 0 },
  });
  await reconcile(world.deps);
  expect(launches(world)).toEqual([current(world), "app-7/left"]);
});

test("a reconcile leaves them all where runtimes cannot be listed, and says so", async () => {
  const world = aWorld();
  await leave(world, "app-7");
  world.runtime.failNext("marked", new AoError("runtime_unavailable", "tmux is gone"));
  world.runtime.failNext("marked", new AoError("runtime_unavailable", "tmux is gone"));
  const { errors } = await reconcile(world.deps);
  expect(errors.map(({ subject, code }) => [subject, code])).toContainEqual([
    "launches",
    "runtime_unavailable",
  ]);
  expect(launches(world)).toEqual(["app-7/left"]);
});

test("a reconcile leaves the files of a start that another process is at", async () => {
  const world = aWorld();
  let during: readonly string[] = [];
  const boundary = async (name: string) => {
    if (name !== "spawn.runtime.create:before") return;
    await reconcile(world.deps);
    during = launches(world);
  };
  await spawnSession({ ...world.deps, boundary }, aSpawnRequest(world.project));
  expect(during).toEqual([current(world)]);
});

test("what a spawn that died leaves, and its undo could not take away, goes with a later reconcile", async () => {
  const world = aWorld();
  await world.spawn();
  const { ending } = await inProcess(world, { crashAtBoundary: "spawn.runtime.create:before" }, (deps) =>
    spawnSession(deps, aSpawnRequest(world.project, { issueId: "43" })),
  );
  expect(ending.kind).toBe("crashed");
  expect(launches(world).filter((launch) => launch.startsWith(`${LATER}/`))).toHaveLength(1);
  await reconcile(world.deps);
  await leave(world, LATER, "overtaken");
  await reconcile(world.deps);
  expect(launches(world)).toEqual([current(world)]);
});
