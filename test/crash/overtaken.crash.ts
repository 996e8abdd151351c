import { describe, expect, test } from "vitest";
import { isTerminal } from "../../src/domain/lifecycle.ts";
import { expectSound } from "../support/crash-traces.ts";
import { reconcileSchema } from "../support/json-schemas.ts";
import { aPlace, type Place, SHELL } from "./crash-scenarios.ts";
import { stoppedAt } from "./stopped-run.ts";

/** A session that nothing would be lost of, beside the neighbour. */
async function aPlaceWithSubject() {
  const place = await aPlace();
  const id = await place.ao.spawn(place.repository, ["--branch", "subject", ...SHELL]);
  return { place, id };
}

async function freed() {
  const { place, id } = await aPlaceWithSubject();
  expect((await place.ao.run(["kill", id])).exitCode).toBe(0);
  return { place, id };
}

const isOver = ({ ao, repository }: Place, id: string) =>
  expectSound(ao, repository)
    .rows.filter((row) => row.id === id)
    .map(({ lifecycle }) => isTerminal(lifecycle));

describe("a session that another process works on", () => {
  test.each([
    ["kill", "kill.begin:after", "kill.runtime.destroy:before"],
    ["kill", "kill.runtime.destroy:before", "kill.workspace.destroy:after"],
    ["kill", "kill.workspace.destroy:before", "kill.complete:before"],
    ["restore", "restore.workspace.restore:before", "undo.discard:before"],
    ["restore", "restore.runtime.create:before", "undo.launch:before"],
    ["restore", "restore.runtime.create:after", "restore.complete:before"],
  ])(
    "is taken over during a %s from a holder that stood still for longer than its lease at %s, and wakes when the other is at %s",
    async (command, boundary, at) => {
      const { place, id } = command === "kill" ? await aPlaceWithSubject() : await freed();
      const argv = command === "kill" ? ["kill", id] : ["restore", id, "--fresh"];
      const sleeper = await stoppedAt(place, argv, { boundary });
      const taker = await stoppedAt(place, ["reconcile", "--json"], { boundary: at, aheadMs: 31_000 });
      const late = await sleeper.wake();
      expect(late.exitCode).not.toBe(0);
      expect(late.stderr).toContain(`process ${taker.pid} (ao reconcile)`);
      const { stdout } = await taker.wake();
      expect(reconcileSchema.parse(JSON.parse(stdout))).toMatchObject({
        operations: [
          { kind: command, sessionId: id, outcome: at.startsWith("undo") ? "undone" : "finished" },
        ],
        errors: [],
      });
      expect(isOver(place, id)).toEqual([at !== "restore.complete:before"]);
      expect((await place.ao.run(["kill", id])).exitCode).toBe(0);
      expect(isOver(place, id)).toEqual([true]);
    },
  );

  test.each([
    ["spawn.workspace.create:before", "undo.discard:before"],
    ["spawn.workspace.create:after", "undo.discard:after"],
    ["spawn.launch.files:after", "undo.launch:before"],
    ["spawn.runtime.create:after", "spawn.row.insert:before"],
    ["spawn.row.insert:after", "spawn.complete:before"],
  ])(
    "that was being made is taken over from a holder that stood still at %s, and wakes when the other is at %s",
    async (boundary, at) => {
      const place = await aPlace();
      const argv = ["spawn", "--branch", "subject", ...SHELL];
      const sleeper = await stoppedAt(place, argv, { boundary });
      const taker = await stoppedAt(place, ["reconcile", "--json"], { boundary: at, aheadMs: 31_000 });
      const late = await sleeper.wake();
      expect(late.exitCode).not.toBe(0);
      expect(late.stderr).toContain(`process ${taker.pid} (ao reconcile)`);
      const { stdout } = await taker.wake();
      const outcome = at.startsWith("undo") ? "undone" : "finished";
      expect(reconcileSchema.parse(JSON.parse(stdout))).toMatchObject({
        operations: [{ kind: "spawn", outcome }],
        errors: [],
      });
      const { rows } = expectSound(place.ao, place.repository);
      expect(rows.map(({ metadata }) => metadata.branch)).toEqual(
        outcome === "undone" ? ["neighbour"] : ["neighbour", "subject"],
      );
    },
  );

  test.each([["spawn.workspace.create:before"], ["spawn.runtime.create:before"]])(
    "that was being made was taken back whole before its holder, which stood still at %s, wakes: nothing is made any more",
    async (boundary) => {
      const place = await aPlace();
      const sleeper = await stoppedAt(place, ["spawn", "--branch", "subject", ...SHELL], { boundary });
      const env = { AO_FAULT_CLOCK_MS: "31000" };
      const argv = ["reconcile", "--json"];
      const { exitCode } = await place.ao.run(argv, { cwd: place.repository, env });
      expect(exitCode).toBe(0);
      expect((await sleeper.wake()).exitCode).not.toBe(0);
      const { rows } = expectSound(place.ao, place.repository);
      expect(rows.map(({ metadata }) => metadata.branch)).toEqual(["neighbour"]);
    },
  );
});
