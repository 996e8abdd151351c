import { expect, test } from "vitest";
import { observeSessions } from "../../../src/lifecycle/observe/observe-sessions.ts";
import { sessionId } from "../../support/builders.ts";
import { memoryCli } from "../../support/memory-cli.ts";
import { aWorld, type World } from "../../support/world.ts";

/** `app-1` on issue 42, with a goal that it works on. */
async function aWorldWithGoal(): Promise<World> {
  const world = aWorld();
  const { id } = await world.spawn({ prompt: null, issueId: "42" });
  await world.hear(id, "ready");
  await observeSessions(world.deps);
  await memoryCli(world, ["goal", "set", "app-1", "make it"]);
  return world;
}

test("ao issue close says what it revoked, and that it had, each time with exit 0", async () => {
  const world = await aWorldWithGoal();
  const first = await memoryCli(world, ["issue", "close", "42"]);
  expect(first.exitCode).toBe(0);
  expect(first.stdout).toMatch(/^app-1: its goal is fenced \(order \S+\)\n$/);
  const again = await memoryCli(world, ["issue", "close", "42", "-p", "app", "--json"]);
  expect(JSON.parse(again.stdout)).toEqual({
    ...{ issueId: "42", projectId: "app", reason: "issue_closed", errors: [] },
    sessions: [
      {
        ...{ id: "app-1", outcome: "already_fenced", operationId: expect.any(String) },
        target: { operationId: expect.any(String), revision: 1, repairEpoch: 0 },
        ...{ settled: true, waitsFor: null },
      },
    ],
  });
  expect((await memoryCli(world, ["goal", "show", "app-1"])).stdout).toBe("app-1 has no goal\n");
});

test("ao issue close says of a goal that was reached that it was", async () => {
  const world = await aWorldWithGoal();
  const state = world.deps.goals.state(sessionId("app-1"));
  if (!state?.desired) throw new Error("it has no goal");
  const { objective } = state.desired;
  const observed = { objective, status: "completed", detail: null } as const;
  const goals = { ...world.deps.goals, state: () => ({ ...state, observed }) };
  const reached = { ...world, deps: { ...world.deps, goals } };
  const { stdout } = await memoryCli(reached, ["issue", "close", "42"]);
  expect(stdout).toMatch(/^app-1: its goal, completed already, is fenced \(order \S+\)\n$/);
});

test("ao issue close of an issue that nobody works on says so, and exits with 0", async () => {
  const world = await aWorldWithGoal();
  const { exitCode, stdout, stderr } = await memoryCli(world, ["issue", "close", "43"]);
  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: "" });
  expect(stderr).toContain("no session of app works on issue 43: nothing to fence");
  const json = await memoryCli(world, ["issue", "close", "43", "--json"]);
  expect(json).toMatchObject({ exitCode: 0, stderr: "" });
  expect(JSON.parse(json.stdout)).toMatchObject({ sessions: [], errors: [] });
});

test.each([
  [["close", ""], 2, "issue id"],
  [["close", "42", "-p", "nothing"], 3, "nothing"],
  [["close"], 2, "issue"],
])("ao issue %j is refused", async (argv, exitCode, text) => {
  const world = await aWorldWithGoal();
  const result = await memoryCli(world, ["issue", ...argv]);
  expect(result).toMatchObject({ exitCode, stdout: "" });
  expect(result.stderr).toContain(text);
  expect(world.deps.goals.active().goals).toHaveLength(1);
});
