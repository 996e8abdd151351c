import { describe, expect, test } from "vitest";
import { memoryLocks } from "../../../../src/adapters/memory/locks.ts";
import { sendMessage } from "../../../../src/lifecycle/messages/send-message.ts";
import { inProcess } from "../../../support/crashing.ts";
import type { World } from "../../../support/world.ts";
import { answersEverything, aRestingWorld, ID, story, typed } from "./message-world.ts";

const TIME = { timeoutMs: 300_000, requestId: "request-1" };
const BOUNDARIES = ["send.queue", "send.mark", "send.type"].flatMap((step) => [
  `${step}:before`,
  `${step}:after`,
]);

/** The world as the next process finds it: a lock of one that died is free. */
function afterwards(world: World): World {
  return { ...world, deps: { ...world.deps, locks: memoryLocks() } };
}

async function crashed(crashAt: number): Promise<World> {
  const world = await aRestingWorld();
  answersEverything(world);
  const { ending } = await inProcess(world, { crashAt }, (deps) => sendMessage(deps, ID, "one", TIME));
  expect(ending).toEqual({ kind: "crashed", at: BOUNDARIES[crashAt - 1] });
  return afterwards(world);
}

describe("a sender that dies", () => {
  test("has crossed these boundaries when it does not", async () => {
    const world = await aRestingWorld();
    answersEverything(world);
    const { crossed } = await inProcess(world, {}, (deps) => sendMessage(deps, ID, "one", TIME));
    expect(crossed).toEqual(BOUNDARIES);
  });

  const rows = BOUNDARIES.map((boundary, index) => [boundary, index + 1] as const);

  test.each(rows)(
    "at %s has its message arrive once at most, and the next one after it",
    async (_at, crashAt) => {
      const world = await crashed(crashAt);
      const next = await sendMessage(world.deps, ID, "two", { timeoutMs: 300_000 });
      expect(next.state).toBe("delivered");
      expect(typed(world).filter((text) => text === "one").length).toBeLessThanOrEqual(1);
      expect(typed(world).at(-1)).toBe("two");
      expect(world.deps.messages.queued(ID)).toEqual([]);
      expect(story(world).filter((end) => end !== "completed" && end !== "failed")).toEqual([]);
    },
  );

  test.each(rows)("at %s and is repeated has its message arrive once", async (at, crashAt) => {
    const world = await crashed(crashAt);
    const before = typed(world).length;
    const result = await sendMessage(world.deps, ID, "one", TIME).catch((error: unknown) => error);
    // Keys that may have been sent are not sent again, also where in truth they were not.
    const isLost = at === "send.mark:after" || at === "send.type:before";
    if (isLost) expect(result).toMatchObject({ code: "delivery_unconfirmed" });
    else expect(result).toMatchObject({ state: "delivered" });
    expect(typed(world)).toEqual(isLost ? [] : ["one"]);
    expect(before).toBeLessThanOrEqual(1);
  });
});
