import { describe, expect, test } from "vitest";
import { isTerminal } from "../../src/domain/lifecycle.ts";
import { expectSound } from "../support/crash-traces.ts";
import { cleanupSchema, reconcileSchema, restoreSchema } from "../support/json-schemas.ts";
import { aPlace, type Place, SHELL } from "./crash-scenarios.ts";
import { stoppedAt } from "./stopped-run.ts";

/** A session that nothing would be lost of, beside the neighbour. */
async function aPlaceWithSubject(...argv: readonly string[]) {
  const place = await aPlace();
  const id = await place.ao.spawn(place.repository, ["--branch", "subject", ...argv, ...SHELL]);
  return { place, id };
}

async function terminated() {
  const { place, id } = await aPlaceWithSubject();
  expect((await place.ao.run(["kill", id, "--keep-worktree"])).exitCode).toBe(0);
  return { place, id };
}

const isOver = ({ ao, repository }: Place, id: string) =>
  expectSound(ao, repository)
    .rows.filter((row) => row.id === id)
    .map(({ lifecycle }) => isTerminal(lifecycle));

describe("a session that another process works on", () => {
  test.each([
    ["kill", "restore"],
    ["kill", "kill"],
    ["restore", "kill"],
    ["restore", "restore"],
  ])("while it is under a %s refuses a %s, and says who is at it and since when", async (first, second) => {
    const { place, id } = first === "kill" ? await aPlaceWithSubject() : await terminated();
    const fresh = (command: string) => (command === "restore" ? ["--fresh"] : []);
    const fromMs = Date.now();
    const holder = await stoppedAt(place, [first, id, ...fresh(first)], { boundary: `${first}.begin:after` });
    const error = await place.ao.error([second, id, ...fresh(second)]);
    expect(error).toMatchObject({ exitCode: 4, code: "operation_in_progress" });
    expect(error.details).toMatchObject({
      kind: first,
      holder: { pid: holder.pid, command: `ao ${first} ${id}` },
    });
    const { since } = (error.details as { holder: { since: string } }).holder;
    expect(Date.parse(since)).toBeGreaterThanOrEqual(fromMs);
    expect(Date.parse(since)).toBeLessThanOrEqual(Date.now());
    expect(error.message).toContain(`process ${holder.pid} (ao ${first} ${id}) since ${since}`);
    expect((await place.ao.json(reconcileSchema, ["reconcile"])).operations).toEqual([]);
    expect(await holder.wake()).toMatchObject({ exitCode: 0, stderr: "" });
    expect(isOver(place, id)).toEqual([first === "kill"]);
  });

  test("is passed by in a cleanup, with who is at it", async () => {
    const { place, id } = await terminated();
    const holder = await stoppedAt(place, ["restore", id, "--fresh"], { boundary: "restore.begin:after" });
    for (const dryRun of [["--dry-run"], []]) {
      const arguments_ = ["cleanup", "--all-projects", ...dryRun];
      const { skipped, cleaned } = await place.ao.json(cleanupSchema, arguments_);
      expect(cleaned).toEqual([]);
      expect(skipped).toMatchObject([
        { id, reason: "operation_in_progress", detail: expect.stringContaining(`${holder.pid}`) },
      ]);
    }
    expect((await holder.wake()).exitCode).toBe(0);
    expect(isOver(place, id)).toEqual([false]);
  });

  test("is waited for with --wait, for as long as was asked", async () => {
    const { place, id } = await aPlaceWithSubject();
    const holder = await stoppedAt(place, ["kill", id, "--keep-worktree"], { boundary: "kill.ended:before" });
    const fromMs = performance.now();
    expect(await place.ao.error(["restore", id, "--fresh", "--wait", "--timeout", "1"])).toMatchObject({
      code: "operation_in_progress",
    });
    expect(performance.now() - fromMs).toBeGreaterThanOrEqual(1000);
    const waiting = place.ao.json(restoreSchema, ["restore", id, "--fresh", "--wait"]);
    const woken = holder.wake();
    expect((await woken).exitCode).toBe(0);
    expect(await waiting).toMatchObject({ id, isTerminated: false });
    expect(isOver(place, id)).toEqual([false]);
  });

  test("is taken over at once from a holder that died, though its lease goes on", async () => {
    const { place, id } = await aPlaceWithSubject();
    const killed = { AO_FAULT_AT: "kill.begin:after" };
    expect((await place.ao.run(["kill", id], { env: killed })).exitCode).toBeNull();
    expect(await place.ao.json(restoreSchema, ["restore", id, "--fresh"])).toMatchObject({
      isTerminated: false,
    });
    expect(isOver(place, id)).toEqual([false]);
  });
});
