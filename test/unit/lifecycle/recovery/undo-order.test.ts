import { expect, test } from "vitest";
import { AoError } from "../../../../src/domain/errors.ts";
import type { SessionDeps } from "../../../../src/lifecycle/deps.ts";
import { reconcile } from "../../../../src/lifecycle/recovery/reconcile.ts";
import { restoreSession } from "../../../../src/lifecycle/restore/restore-session.ts";
import { spawnSession } from "../../../../src/lifecycle/spawn/spawn-session.ts";
import { sessionId } from "../../../support/builders.ts";
import { inProcess } from "../../../support/crashing.ts";
import { aSpawnRequest, aWorld, type World } from "../../../support/world.ts";

const ID = sessionId("app-1");
const PATH = "/data/worktrees/app/app-1";

interface Row {
  readonly name: string;
  arrange(world: World): Promise<unknown>;
  act(deps: SessionDeps, world: World): Promise<unknown>;
  /** Where its process died: its agent was up. */
  readonly at: string;
}

const rows: readonly Row[] = [
  {
    name: "spawn",
    arrange: async () => undefined,
    act: (deps, world) => spawnSession(deps, aSpawnRequest(world.project)),
    at: "spawn.runtime.create:after",
  },
  {
    name: "restore",
    async arrange(world) {
      await world.spawn();
      await world.kill(ID);
    },
    act: (deps, { settings }) => restoreSession(deps, ID, { fresh: false, settings }),
    at: "restore.runtime.create:after",
  },
];

const removed = ({ log }: World) => log.filter((call) => call.startsWith("files.removeTree"));

test.each(rows.map((row) => [row.name, row] as const))(
  "the recovery of a %s ends its runtime first, and leaves the rest while it cannot",
  async (_name, { arrange, act, at }) => {
    const world = aWorld();
    await arrange(world);
    await inProcess(world, { crashAtBoundary: at }, (deps) => act(deps, world));
    world.runtime.exitAgent(ID, 1);
    world.clearLog();
    world.runtime.failNext("destroy", new AoError("runtime_unavailable", "tmux stands still"));
    expect((await reconcile(world.deps)).errors.length).toBeGreaterThan(0);
    expect(world.runtime.sessions()).toEqual([ID]);
    expect(removed(world)).toEqual([]);
    expect(world.workspace.exists(PATH)).toBe(true);
    world.clock.advance(60_000);
    expect((await reconcile(world.deps)).errors).toEqual([]);
    expect(world.runtime.sessions()).toEqual([]);
    expect(removed(world).some((call) => call.includes(`/data/launch/${ID}/`))).toBe(true);
  },
);
