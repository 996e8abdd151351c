import { expect } from "vitest";
import { isTombstoned } from "../../../src/domain/goal.ts";
import type { GoalDriver, Scenario } from "./driver.ts";

const actions = (driver: GoalDriver) => driver.metrics().controls.map(({ action }) => action);
const stateOf = (driver: GoalDriver, id: string) => driver.operation(id)?.state;
const fencedIds = (driver: GoalDriver) =>
  driver.metrics().fences.map(({ generation }) => generation.operationId);

function expectGone(driver: GoalDriver, revision: number): void {
  const state = driver.state();
  expect(state?.generation.revision).toBe(revision);
  expect(state && isTombstoned(state)).toBe(true);
}

/** The seven sequences that the source pins, by their meaning and with their counts. */
export const PINNED: readonly Scenario[] = [
  {
    name: "a fence durably clears the generation that is current, and no other",
    async run(driver) {
      const target = await driver.set("shared work", { requestId: "shared-goal-submit" });
      const found = await driver.set("shared work", { requestId: "shared-goal-submit" });
      expect(found.operationId).toBe(target.operationId);

      const fence = { targetOperationId: target.operationId, requestId: "binding-revoke-1" };
      expect(await driver.fence(fence)).toMatchObject({ intentAccepted: true, settled: true });
      expectGone(driver, 2);
      expect(driver.metrics().fences[0]?.generation).toMatchObject({
        operationId: target.operationId,
        revision: 1,
      });
      expect(actions(driver)).toEqual(["set", "clear"]);

      await driver.lose();
      await driver.reconcile();
      const before = driver.metrics();
      await driver.restore();
      const installed = () => driver.metrics().fences.slice(before.fences.length);
      expect(installed().map(({ generation }) => generation.operationId)).toEqual([target.operationId]);
      await driver.reconcile();
      await driver.reconcile();
      expect(installed()).toHaveLength(1);
    },
  },
  {
    name: "a fence leaves a newer goal alone",
    async run(driver) {
      const shared = await driver.set("shared work", { requestId: "shared" });
      await driver.set("owner work", { requestId: "owner" });
      const fenced = await driver.fence({
        targetOperationId: shared.operationId,
        requestId: "revoke-shared",
      });
      expect(fenced.settled).toBe(true);
      expect(driver.state()?.generation.revision).toBe(2);
      expect(driver.state()?.desired?.objective).toContain("owner work");
      expect(driver.metrics().controls).toHaveLength(2);
    },
  },
  {
    name: "that a fence is accepted survives a failure of the agent",
    async run(driver) {
      const { operationId } = await driver.set("shared", { requestId: "shared" });
      driver.faults.fence("error");
      await expect(driver.fence({ targetOperationId: operationId })).rejects.toMatchObject({
        details: { intentAccepted: true, settled: false },
      });
      driver.faults.fence(null);
      expect(await driver.recover()).toEqual([]);
      const fence = driver.plantFence({ targetOperationId: operationId });
      expect(stateOf(driver, fence.id)?.kind).toBe("completed");
    },
  },
  {
    name: "recovery carries a fence out before the order that it is about",
    async run(driver) {
      const target = driver.plantSet("must never replay");
      driver.plantFence({ targetOperationId: target.id, requestId: "binding-revoke" });
      expect(await driver.recover()).toEqual([]);
      expect(fencedIds(driver)[0]).toBe(target.id);
      expect(actions(driver)).toEqual(["clear"]);
      expect(stateOf(driver, target.id)).toMatchObject({
        kind: "completed",
        result: { phase: "superseded" },
      });
    },
  },
  {
    name: "recovery of a fence does not resume a session that is offline",
    async run(driver) {
      const target = driver.plantSet("revoked work");
      await driver.lose();
      driver.faults.fence("disconnected");
      const fence = { targetOperationId: target.id, requestId: "revoke-offline" };
      const accepted = await driver.fence(fence);
      expect(accepted).toMatchObject({ intentAccepted: true, settled: false });
      expect(driver.metrics().fences).toMatchObject([{ requireLive: true }]);

      expect(await driver.recover()).toEqual([]);
      expect(driver.metrics()).toMatchObject({ controls: [], fences: [{}], resumes: [] });
      expectGone(driver, 2);
      expect(driver.state()).toMatchObject({
        pendingOperationId: null,
        syncStatus: "unknown",
        observed: null,
      });
      expect(stateOf(driver, target.id)).toMatchObject({ result: { phase: "superseded" } });
      expect(stateOf(driver, accepted.operationId)?.kind).toBe("completed");
      const clear = driver.state()?.generation.operationId ?? "";
      expect(stateOf(driver, clear)).toMatchObject({ kind: "completed", result: { phase: "unknown" } });

      expect(await driver.recover()).toEqual([]);
      expect(driver.metrics()).toMatchObject({ controls: [], fences: [{}], resumes: [] });

      driver.faults.fence(null);
      await driver.reconcile();
      await driver.restore();
      expect(driver.metrics().resumes).toEqual([[target.id]]);
      expect(driver.metrics().fences).toMatchObject([{}, { requireLive: false }]);
      expect(fencedIds(driver)[1]).toBe(target.id);
      await driver.set("new work", { requestId: "new-goal-after-restart" });
      expect(actions(driver)).toEqual(["set"]);
      expect(driver.state()).toMatchObject({ syncStatus: "synced", observed: { status: "active" } });
    },
  },
  {
    name: "a fence waits for the authoritative end of the turn whose cancellation did not get through",
    async run(driver) {
      const target = await driver.runTurn();
      driver.faults.cancel("disconnected");
      const fenced = await driver.fence({ targetOperationId: target.id, requestId: "revoke-running" });
      expect(fenced).toMatchObject({ intentAccepted: true, settled: false });
      expect(driver.metrics().cancels).toBe(1);
      expect(stateOf(driver, fenced.operationId)?.kind).toBe("prepared");
      expect(driver.newestTurn()).toMatchObject({
        state: { kind: "running" },
        goal: { operationId: target.id },
      });

      await driver.lose();
      await driver.wait(2_000);
      expect(await driver.recover()).toEqual([]);
      expect(driver.newestTurn()?.state).toMatchObject({ kind: "settled", outcome: "interrupted" });
      expect(stateOf(driver, fenced.operationId)?.kind).toBe("completed");
      expect(driver.metrics()).toMatchObject({ resumes: [], cancels: 1 });
    },
  },
  {
    name: "a fence does not connect again when the connection drops before the cancellation",
    async run(driver) {
      const target = await driver.runTurn();
      driver.faults.onFence(() => driver.faults.sight(true));
      const fenced = await driver.fence({ targetOperationId: target.id, requestId: "revoke-disconnected" });
      expect(fenced).toMatchObject({ intentAccepted: true, settled: false });
      expect(driver.metrics()).toMatchObject({ resumes: [], cancels: 0 });
      expect(stateOf(driver, fenced.operationId)?.kind).toBe("prepared");
      expect(driver.newestTurn()?.state.kind).toBe("running");

      driver.faults.sight(false);
      driver.faults.onFence(() => driver.lose());
      expect(await driver.recover()).toEqual([]);
      expect(stateOf(driver, fenced.operationId)?.kind).toBe("completed");
      expect(driver.metrics()).toMatchObject({ resumes: [], cancels: 0 });
    },
  },
];
