import { describe, expect, test } from "vitest";
import { observeSessions } from "../../../src/lifecycle/observe-sessions.ts";
import { restoreSession } from "../../../src/lifecycle/restore-session.ts";
import { sessionId } from "../../support/builders.ts";
import { aTurnIn } from "../../support/turns.ts";
import { aWorld, type World } from "../../support/world.ts";

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

describe("a conversation that no agent has named", () => {
  test("is begun anew when nothing was ever sent to it, and a person is told", async () => {
    const world = await anUnnamedWorld();
    const { warnings } = await restore(world);
    expect(warnings).toEqual([expect.stringContaining("never had a prompt")]);
  });

  test("is not begun anew when something was sent: it may have begun", async () => {
    const world = await anUnnamedWorld(({ deps }) => deps.turns.insert(aTurnIn({ kind: "submitted" })));
    await expect(restore(world)).rejects.toMatchObject({ code: "agent_session_unknown" });
  });
});
