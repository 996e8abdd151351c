import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import * as z from "zod";
import { type Ao, aoSandbox } from "../support/ao.ts";
import { goalSchema, reconcileSchema, showSchema, turnsSchema } from "../support/json-schemas.ts";

const PATIENCE = { timeout: 40_000, interval: 200 };

const goalOf = (ao: Ao, id: string) => ao.json(goalSchema, ["goal", "show", id]);
const logOf = ({ dataDir }: Ao, id: string) =>
  readFileSync(join(dataDir, "worktrees", "shop", id, "log.txt"), "utf8")
    .trim()
    .split("\n");

/** One tick of cron, which must meet no trouble. */
async function tick(ao: Ao) {
  const result = await ao.json(reconcileSchema, ["reconcile"]);
  expect(result.errors).toEqual([]);
  return result;
}

test("a goal goes on over turns, comes through the loss of tmux by a person's restore alone, and stops by itself", async () => {
  const ao = aoSandbox();
  const cwd = ao.repository();
  const until =
    'test "$(wc -l < log.txt)" -lt 4 || touch done.txt; echo "so far: $(wc -l < log.txt)"; test -f done.txt';
  const goal = "append log.txt turn\nwait 0.5";
  const id = await ao.spawn(cwd, ["--goal", goal, "--max-turns", "9", "--until", until]);
  expect(await goalOf(ao, id)).toMatchObject({
    status: "active",
    syncStatus: "synced",
    revision: 1,
    turnsUsed: 1,
  });

  const usedBy = (count: number) =>
    expect
      .poll(async () => {
        await tick(ao);
        return (await goalOf(ao, id)).turnsUsed;
      }, PATIENCE)
      .toBe(count);
  await usedBy(2);
  ao.tmux("kill-server");
  await expect
    .poll(async () => {
      await tick(ao);
      return (await ao.json(showSchema, ["show", id])).status;
    }, PATIENCE)
    .toBe("killed");
  await tick(ao);
  expect(await goalOf(ao, id)).toMatchObject({ status: "active", turnsUsed: 2 });
  expect(logOf(ao, id)).toHaveLength(2);
  expect(ao.tmux("list-sessions")).toBe("");

  expect((await ao.run(["restore", id])).exitCode).toBe(0);
  await expect
    .poll(async () => (await tick(ao)).goals.map(({ kind }) => kind), PATIENCE)
    .toEqual(["completed"]);
  const over = await goalOf(ao, id);
  expect(over).toMatchObject({
    status: "completed",
    turnsUsed: 4,
    check: { exitCode: 0, output: "so far: 4\n" },
  });
  expect(logOf(ao, id)).toHaveLength(4);
  const { data: turns } = await ao.json(turnsSchema, ["turns", id]);
  const origins = turns.map(({ origin }) => origin).toReversed();
  expect(origins).toEqual(["goal_arm", "goal_continuation", "goal_continuation", "goal_continuation"]);
  expect(turns.every(({ goal: of }) => of?.operationId === over.operationId)).toBe(true);
  expect((await tick(ao)).goals).toEqual([]);
  expect((await ao.json(showSchema, ["show", id])).goal).toEqual(over);
});

test("closing an issue stops what its sessions do for their goals, for ever, and leaves the sessions", async () => {
  const ao = aoSandbox();
  const cwd = ao.repository();
  const goal = ["--goal", "append log.txt turn\nwait 60", "--until", "false"];
  const id = await ao.spawn(cwd, ["ABC-7", ...goal]);
  const other = await ao.spawn(cwd, ["ABC-8", ...goal]);
  await ao.until(id, "working");
  const closed = z.object({
    sessions: z.array(z.object({ id: z.string(), outcome: z.string(), settled: z.boolean() })),
  });
  const close = () => ao.json(closed, ["issue", "close", "abc-7"], { cwd });
  expect((await close()).sessions).toEqual([expect.objectContaining({ id, outcome: "fenced" })]);
  await ao.until(id, "idle");
  expect((await close()).sessions).toMatchObject([{ id, outcome: "already_fenced", settled: true }]);
  const { goals } = await tick(ao);
  expect(goals.filter((one) => one.sessionId === id)).toEqual([]);
  expect(await goalOf(ao, id)).toMatchObject({ status: "none", tombstoned: true });
  expect(await goalOf(ao, other)).toMatchObject({ status: "active" });
  expect(logOf(ao, id)).toHaveLength(1);
});
