import { describe, expect, test } from "vitest";
import type { SessionDeps } from "../../../../src/lifecycle/deps.ts";
import { observeSessions } from "../../../../src/lifecycle/observe/observe-sessions.ts";
import { reconcile } from "../../../../src/lifecycle/recovery/reconcile.ts";
import { restoreSession } from "../../../../src/lifecycle/restore/restore-session.ts";
import { sessionId } from "../../../support/builders.ts";
import { inProcess } from "../../../support/crashing.ts";
import { aTurnIn } from "../../../support/turns.ts";
import { aWorld, type World } from "../../../support/world.ts";

const ID = sessionId("app-1");

/** A killed session whose agent chooses its conversation's id and has told none. */
async function anUnnamedWorld(prepare: (world: World) => void = () => undefined): Promise<World> {
  const world = aWorld({
    capabilities: { pinsSessionId: false, capturesSessionId: true, begunByPrompt: true },
  });
  await world.spawn({ prompt: null });
  await observeSessions(world.deps);
  prepare(world);
  await world.kill(ID);
  return world;
}

const restore = ({ deps, settings }: World) => restoreSession(deps, ID, { fresh: false, settings });
const restoreOnce = (deps: SessionDeps, { settings }: World) =>
  restoreSession(deps, ID, { fresh: false, settings, requestId: "request-1" });

describe("a conversation that no agent has named", () => {
  test("is begun anew when nothing was ever sent to it, and a person is told", async () => {
    const world = await anUnnamedWorld();
    const { warnings } = await restore(world);
    expect(warnings).toEqual([expect.stringContaining("never had a prompt")]);
  });

  test("was begun anew also for one who asks again after another command finished the restore", async () => {
    const world = await anUnnamedWorld();
    const at = "restore.runtime.create:after";
    await inProcess(world, { crashAtBoundary: at }, (deps) => restoreOnce(deps, world));
    expect((await reconcile(world.deps)).operations).toMatchObject([{ outcome: "finished" }]);
    const again = await restoreOnce(world.deps, world);
    expect(again).toMatchObject({ fresh: true, warnings: [expect.stringContaining("never had a prompt")] });
  });

  test("is not begun anew when something was sent: it may have begun", async () => {
    const world = await anUnnamedWorld(({ deps }) => deps.turns.insert(aTurnIn({ kind: "submitted" })));
    await expect(restore(world)).rejects.toMatchObject({ code: "agent_session_unknown" });
  });
});
