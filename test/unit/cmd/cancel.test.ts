import { describe, expect, test } from "vitest";
import { cancelSchema } from "../../support/json-schemas.ts";
import { memoryCli } from "../../support/memory-cli.ts";
import { aWorld } from "../../support/world.ts";

async function aRunningSession() {
  const world = aWorld();
  const { id } = await world.spawn({ prompt: null });
  await world.hear(id, "submit", { body: "one" });
  return { world, id };
}

describe("cancel", () => {
  test("prints with --json what scripts rely on", async () => {
    const { world, id } = await aRunningSession();
    const { exitCode, stdout, stderr } = await memoryCli(world, ["cancel", id, "--json"]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(cancelSchema.parse(JSON.parse(stdout))).toMatchObject({
      ...{
        state: "settled",
        intentAccepted: true,
        providerConfirmed: true,
        settled: true,
        outcome: "canceled",
      },
    });
  });

  test("of a session that rests is done, and says so", async () => {
    const world = aWorld();
    const { id } = await world.spawn({ prompt: null });
    expect(await memoryCli(world, ["cancel", id])).toMatchObject({
      exitCode: 0,
      stdout: "app-1: no turn goes on, there is nothing to stop\n",
    });
  });

  test("of a session that has ended says that it has, and tells scripts what it always told them", async () => {
    const { world, id } = await aRunningSession();
    await world.kill(id);
    expect(await memoryCli(world, ["cancel", id])).toMatchObject({
      exitCode: 0,
      stdout: "app-1: no turn goes on, the session has ended\n",
    });
    const { stdout } = await memoryCli(world, ["cancel", id, "--json"]);
    expect(cancelSchema.parse(JSON.parse(stdout))).toMatchObject({
      state: "not_found",
      intentAccepted: false,
    });
  });

  test("of a turn that the session does not have says so", async () => {
    const { world, id } = await aRunningSession();
    const { stdout } = await memoryCli(world, ["cancel", id, "--turn", "another"]);
    expect(stdout).toBe("app-1: it has no turn another\n");
  });

  test("that the agent did not confirm is exit 1, and says who tries again", async () => {
    const { world, id } = await aRunningSession();
    world.agent.answerCancels({ kind: "delivery_unconfirmed", detail: "no evidence" });
    const { exitCode, stdout, stderr } = await memoryCli(world, ["cancel", id]);
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(/^app-1: \S+ cancel_requested\n$/);
    expect(stderr).toContain("(no evidence)");
    expect(stderr).toContain("ao reconcile");
  });

  test("of a turn that is named stops no other", async () => {
    const { world, id } = await aRunningSession();
    const { stdout } = await memoryCli(world, ["cancel", id, "--turn", "another", "--json"]);
    expect(cancelSchema.parse(JSON.parse(stdout))).toMatchObject({ state: "not_found", turnId: "another" });
    expect(world.agent.cancels).toEqual([]);
  });

  test("of a turn named by its number is that of its id", async () => {
    const { world, id } = await aRunningSession();
    await memoryCli(world, ["reconcile"]);
    const turnId = world.deps.turns.live(id)?.turnId;
    expect(turnId).toBeDefined();
    const { stdout } = await memoryCli(world, ["cancel", id, "--turn", "1", "--json"]);
    expect(cancelSchema.parse(JSON.parse(stdout))).toMatchObject({ turnId });
  });

  test("with a turn that can be none is a usage error", async () => {
    const { world, id } = await aRunningSession();
    expect((await memoryCli(world, ["cancel", id, "--turn", "../x"])).exitCode).toBe(2);
  });
});
