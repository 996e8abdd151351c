import { describe, expect, test } from "vitest";
import { showSchema, turnsSchema } from "../../support/json-schemas.ts";
import { memoryCli } from "../../support/memory-cli.ts";
import { aWorld } from "../../support/world.ts";

async function aWorldWithTurns() {
  const world = aWorld();
  const { id } = await world.spawn({ prompt: null });
  for (const [event, body] of [
    ["submit", "one"],
    ["fail", "the model said\u001b[31m no"],
    ["submit", "two"],
  ] as const) {
    world.clock.advance(1_000);
    await world.hear(id, event, { body });
  }
  return { world, id };
}

describe("turns", () => {
  test("prints with --json what dashboards rely on", async () => {
    const { world, id } = await aWorldWithTurns();
    const { exitCode, stdout, stderr } = await memoryCli(world, ["turns", id, "--json"]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(turnsSchema.parse(JSON.parse(stdout)).data).toMatchObject([
      { sequence: 2, phase: "running", outcome: null, settledAt: null, checkpoint: null },
      { sequence: 1, phase: "settled", outcome: "failed", errorCode: "agent_error", origin: "user_prompt" },
    ]);
  });

  test("has the files of a turn that was waited for", async () => {
    const { world, id } = await aWorldWithTurns();
    world.clock.advance(1_000);
    await world.hear(id, "stop");
    const kept = { ...world, deps: { ...world.deps, checkpoints: world.deps.snapshots } };
    const { exitCode, stdout } = await memoryCli(kept, ["wait", id]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: `${id} idle\n` });
    const { data } = turnsSchema.parse(JSON.parse((await memoryCli(kept, ["turns", id, "--json"])).stdout));
    expect(data[0]).toMatchObject({
      sequence: 2,
      outcome: "completed",
      checkpoint: { commit: expect.any(String) },
    });
  });

  test("shows a person one line a turn, control characters made visible", async () => {
    const { world, id } = await aWorldWithTurns();
    const { stdout } = await memoryCli(world, ["turns", id]);
    expect(stdout.split("\n").slice(0, 2)).toEqual([
      expect.stringMatching(/^N +TURN +STATE +ORIGIN/),
      expect.stringMatching(/^2 +\S+ +running +user_prompt/),
    ]);
    expect(stdout).not.toContain("\u001b[31m");
    expect(stdout).toContain("the model said");
  });

  test("says when none are known", async () => {
    const world = aWorld();
    const { id } = await world.spawn({ prompt: null });
    const { exitCode, stdout, stderr } = await memoryCli(world, ["turns", id]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: "" });
    expect(stderr).toContain("no turns of app-1");
  });

  test.each(["show", "turns"])(
    "of which one cannot be read are told of by %s, as are operations",
    async (command) => {
      const { world, id } = await aWorldWithTurns();
      const { turns, operations } = world.deps;
      const deps = {
        ...world.deps,
        turns: {
          ...turns,
          ofSession: () => ({ turns: [], unreadable: [{ sessionId: id, turnId: "turn-9", flaw: "phase" }] }),
        },
        operations: {
          ...operations,
          ofSession: () => ({ operations: [], unreadable: [{ id: "op-9", sessionId: id, flaw: "state" }] }),
        },
      };
      const { exitCode, stderr } = await memoryCli({ ...world, deps }, [command, id, "--stored"]);
      expect(exitCode).toBe(0);
      expect(stderr).toContain("turn turn-9 cannot be read (phase)");
      expect(stderr.includes("operation op-9 cannot be read (state)")).toBe(command === "show");
    },
  );

  test("are part of show", async () => {
    const { world, id } = await aWorldWithTurns();
    const { stdout } = await memoryCli(world, ["show", id, "--json"]);
    expect(showSchema.parse(JSON.parse(stdout)).turns.map(({ phase }) => phase)).toEqual([
      "running",
      "settled",
    ]);
    expect((await memoryCli(world, ["show", id])).stdout).toContain("failed (user_prompt)");
  });
});
