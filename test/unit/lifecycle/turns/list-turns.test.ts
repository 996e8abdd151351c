import { describe, expect, test } from "vitest";
import { AoError } from "../../../../src/domain/errors.ts";
import { listTurns } from "../../../../src/lifecycle/turns/list-turns.ts";
import { sessionId } from "../../../support/builders.ts";
import { aSettledTurn } from "../../../support/turns.ts";
import { aWorld, type World } from "../../../support/world.ts";

const ID = sessionId("app-1");

async function aRestingWorld(): Promise<World> {
  const world = aWorld();
  await world.spawn({ prompt: null });
  return world;
}

async function shown({ deps }: World, stored = false): Promise<readonly string[]> {
  const { turns } = await listTurns(deps, ID, { limit: 10, stored });
  return turns.map(({ state }) => (state.kind === "settled" ? state.outcome : state.kind));
}

async function tell(world: World, ...events: readonly string[]) {
  for (const event of events) {
    world.clock.advance(1_000);
    await world.hear(ID, event, { body: "hello" });
  }
}

describe("the turns of a session", () => {
  test("are shown as the agent has told since, newest first, and nothing is written", async () => {
    const world = await aRestingWorld();
    world.deps.turns.insert(aSettledTurn());
    await tell(world, "submit", "stop", "submit");
    const before = [world.deps.changes.last(), world.row(ID)];
    expect(await shown(world)).toEqual(["running", "completed", "completed"]);
    expect(await shown(world, true)).toEqual(["completed"]);
    expect([world.deps.changes.last(), world.row(ID)]).toEqual(before);
    expect(await world.deps.inbox.pending()).toHaveLength(3);
  });

  test("are interrupted where the agent is proven gone, though nobody recorded it", async () => {
    const world = await aRestingWorld();
    await tell(world, "submit");
    world.runtime.loseRuntime(ID);
    world.clock.advance(120_000);
    expect(await shown(world)).toEqual(["interrupted"]);
    expect(world.deps.turns.newest(ID)).toBeUndefined();
  });

  test("are the newest ones when a limit is given", async () => {
    const world = await aRestingWorld();
    await tell(world, "submit", "stop", "submit", "stop");
    const { turns } = await listTurns(world.deps, ID, { limit: 1, stored: false });
    expect(turns.map(({ sequence }) => sequence)).toEqual([2]);
  });

  test("of which one cannot be read are shown as far as they are stored", async () => {
    const world = await aRestingWorld();
    world.deps.turns.insert(aSettledTurn());
    await tell(world, "submit");
    const newest = () => {
      throw new AoError("store_corrupt", "an unreadable turn");
    };
    const deps = { ...world.deps, turns: { ...world.deps.turns, newest } };
    expect((await listTurns(deps, ID, { limit: 10, stored: false })).turns).toEqual([aSettledTurn()]);
  });

  test("of an unknown session are an error", async () => {
    await expect(listTurns(aWorld().deps, ID, { limit: 1, stored: true })).rejects.toMatchObject({
      code: "session_not_found",
    });
  });
});
