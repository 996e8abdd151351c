import { expect } from "vitest";
import { isTombstoned } from "../../../src/domain/goal.ts";
import type { GoalDriver, Scenario } from "./driver.ts";

const actions = (driver: GoalDriver) => driver.metrics().controls.map(({ action }) => action);
const stateOf = (driver: GoalDriver, id: string) => driver.operation(id)?.state;

/** What a conformance suite of goals shows beside the pinned sequences, as far as this system has the parts. */
export const GOALS: readonly Scenario[] = [
  {
    name: "set, pause, resume and clear give the revisions 1 to 4, each followed, and no turn but the one of the set",
    async run(driver) {
      const synced = (revision: number) => ({
        generation: { revision },
        ...{ syncStatus: "synced", pendingOperationId: null },
      });
      expect((await driver.set("the work")).state).toMatchObject(synced(1));
      expect((await driver.control({ action: "pause" })).state).toMatchObject({
        ...synced(2),
        desired: { status: "paused" },
      });
      expect((await driver.control({ action: "resume" })).state).toMatchObject({
        ...synced(3),
        desired: { status: "active" },
      });
      const { state } = await driver.control({ action: "clear" });
      expect(state).toMatchObject({ ...synced(4), observed: null });
      expect(isTombstoned(state)).toBe(true);
      expect(actions(driver)).toEqual(["set", "pause", "resume", "clear"]);
      expect(driver.newestTurn()?.sequence ?? 0).toBeLessThanOrEqual(1);
    },
  },
  {
    name: "an agent that says nothing of a goal that was paused is out of step with it, and the goal stays",
    async run(driver) {
      await driver.set("the work");
      driver.faults.control(() => ({ kind: "applied", observed: null }));
      const { state } = await driver.control({ action: "pause" });
      expect(state).toMatchObject({ syncStatus: "diverged", observed: null, desired: { status: "paused" } });
      expect(state.desired?.objective).toContain("the work");
    },
  },
  {
    name: "the same order under the same name reaches the agent once, another one is a conflict",
    async run(driver) {
      const first = await driver.set("the work", { requestId: "once" });
      const again = await driver.set("the work", { requestId: "once" });
      expect(again).toMatchObject({ operationId: first.operationId, settled: true });
      expect(actions(driver)).toEqual(["set"]);
      const other = driver.control({ action: "clear" }, { requestId: "once" });
      await expect(other).rejects.toMatchObject({ code: "request_conflict" });
      expect(driver.state()?.generation.revision).toBe(1);
    },
  },
  {
    name: "an order under a revision that has moved on changes nothing",
    async run(driver) {
      await driver.set("the work");
      const late = driver.control({ action: "clear" }, { expectedRevision: 7 });
      await expect(late).rejects.toMatchObject({ code: "request_conflict" });
      expect(driver.state()).toMatchObject({ generation: { revision: 1 }, syncStatus: "synced" });
      expect(actions(driver)).toEqual(["set"]);
    },
  },
  {
    name: "of a set and a clear at once the newest wins, at revision 2",
    async run(driver) {
      await Promise.allSettled([driver.set("the work"), driver.control({ action: "clear" })]);
      await driver.recover();
      const state = driver.state();
      expect(state?.generation.revision).toBe(2);
      expect(state?.pendingOperationId).toBeNull();
      const newest = stateOf(driver, state?.generation.operationId ?? "");
      expect(newest?.kind).toBe("completed");
      expect(actions(driver).length).toBeLessThanOrEqual(2);
    },
  },
  {
    name: "an order is accepted while nobody can see the agent, and carried out when somebody can",
    async run(driver) {
      driver.faults.sight(true);
      const accepted = await driver.set("the work");
      expect(accepted).toMatchObject({ intentAccepted: true, settled: false });
      expect(accepted.state).toMatchObject({
        syncStatus: "pending",
        pendingOperationId: accepted.operationId,
      });
      expect(driver.metrics().controls).toEqual([]);
      driver.faults.sight(false);
      await driver.wait(1_100);
      await driver.reconcile();
      expect(driver.state()).toMatchObject({ syncStatus: "synced", pendingOperationId: null });
      expect(actions(driver)).toEqual(["set"]);
    },
  },
  {
    name: "an order whose agent is out of reach is kept for as long as it takes: nothing counts before it was told",
    async run(driver) {
      driver.faults.sight(true);
      const { operationId } = await driver.set("the work");
      for (let tries = 0; tries < 30; tries++) {
        await driver.wait(300_000);
        await driver.recover();
      }
      expect(stateOf(driver, operationId)?.kind).toBe("prepared");
      driver.faults.sight(false);
      await driver.wait(300_000);
      await driver.reconcile();
      expect(driver.state()?.syncStatus).toBe("synced");
    },
    isLong: true,
  },
  {
    name: "an order that the agent took is not given again, and given up when it is not followed in two minutes",
    needsNative: true,
    async run(driver) {
      driver.faults.control(() => ({ kind: "accepted" }));
      const { operationId, state } = await driver.set("the work");
      expect(state).toMatchObject({ syncStatus: "applying", pendingOperationId: operationId });
      for (const ms of [1_100, 2_100, 60_000]) {
        await driver.wait(ms);
        await driver.recover();
      }
      expect(actions(driver)).toEqual(["set"]);
      await driver.wait(60_000);
      await driver.recover();
      expect(stateOf(driver, operationId)?.kind).toBe("failed");
      expect(driver.state()).toMatchObject({ syncStatus: "failed", pendingOperationId: null });
      expect(actions(driver)).toEqual(["set"]);
    },
  },
  {
    name: "recovery does not give a set again that the agent may have had",
    needsNative: true,
    async run(driver) {
      driver.faults.control(() => ({ kind: "disconnected", detail: "it broke off" }));
      const { operationId } = await driver.set("the work");
      driver.faults.control(null);
      await driver.wait(1_100);
      await driver.recover();
      expect(actions(driver)).toEqual(["set"]);
      expect(stateOf(driver, operationId)).toMatchObject({ kind: "failed" });
    },
  },
  {
    name: "a clear is given again, and given up after its tries",
    needsNative: true,
    async run(driver) {
      await driver.set("the work");
      driver.faults.control(() => ({ kind: "disconnected", detail: "no answer" }));
      const { operationId } = await driver.control({ action: "clear" });
      for (let tries = 0; tries < 30; tries++) {
        await driver.wait(300_000);
        await driver.recover();
      }
      expect(stateOf(driver, operationId)?.kind).toBe("failed");
      expect(driver.state()).toMatchObject({ syncStatus: "failed", desired: null });
      expect(actions(driver).filter((action) => action === "clear").length).toBeLessThanOrEqual(24);
    },
  },
  {
    name: "a late result of an order that was superseded has the newest one given once more, in the next epoch",
    needsNative: true,
    async run(driver) {
      driver.faults.control(async () => {
        driver.faults.control(null);
        await driver.control({ action: "clear" });
        return { kind: "applied", observed: { objective: "the work", status: "active", detail: null } };
      });
      const late = await driver.set("the work");
      expect(stateOf(driver, late.operationId)).toMatchObject({ result: { phase: "superseded" } });
      expect(driver.state()).toMatchObject({
        generation: { revision: 2, repairEpoch: 1 },
        syncStatus: "pending",
        incidents: [late.operationId],
      });
      expect(await driver.recover()).toEqual([]);
      expect(actions(driver)).toEqual(["set", "clear", "clear"]);
      expect(driver.state()).toMatchObject({ syncStatus: "synced", desired: null, pendingOperationId: null });
    },
  },
  {
    name: "an order of a session that is gone waits for a person, and one to clear is over without a word",
    async run(driver) {
      const set = driver.plantSet("the work");
      await driver.lose();
      await driver.recover();
      expect(stateOf(driver, set.id)?.kind).toBe("prepared");
      const cleared = await driver.control({ action: "clear" });
      await driver.wait(1_100);
      await driver.recover();
      expect(stateOf(driver, cleared.operationId)).toMatchObject({ result: { phase: "unknown" } });
      expect(driver.state()).toMatchObject({ syncStatus: "unknown", desired: null });
      expect(driver.metrics()).toMatchObject({ controls: [], typed: [], resumes: [] });
    },
  },
  {
    name: "a fence is the same fence however often it is asked for, and another one of its target is refused",
    async run(driver) {
      const { operationId } = await driver.set("the work");
      const first = await driver.fence({ targetOperationId: operationId, requestId: "revoke" });
      const again = await driver.fence({ targetOperationId: operationId, requestId: "revoke" });
      expect(again).toMatchObject({ operationId: first.operationId, settled: true });
      expect(driver.metrics().fences).toHaveLength(1);
      const other = driver.fence({ targetOperationId: operationId, requestId: "revoke-otherwise" });
      await expect(other).rejects.toMatchObject({ code: "request_conflict" });
      const nowhere = driver.fence({ targetOperationId: "3f0c0000-0000-8000-8000-000000000000" });
      await expect(nowhere).rejects.toMatchObject({ code: "operation_not_found" });
    },
  },
];
