import { describe, expect, test } from "vitest";
import { memoryLocks } from "../../../../src/adapters/memory/locks.ts";
import type { CancelAnswer } from "../../../../src/domain/cancel-answer.ts";
import { type CancelOptions, cancelTurn } from "../../../../src/lifecycle/cancel/cancel-turn.ts";
import type { SessionDeps } from "../../../../src/lifecycle/deps.ts";
import { observeSessions } from "../../../../src/lifecycle/observe/observe-sessions.ts";
import { recoverOperations } from "../../../../src/lifecycle/recovery/recover-operations.ts";
import { recordTurnTransition } from "../../../../src/lifecycle/turns/record-turn-transition.ts";
import { sessionId, T0_MS } from "../../../support/builders.ts";
import { aSettledTurn, aTransition, turnId } from "../../../support/turns.ts";
import { aWorld, type World } from "../../../support/world.ts";

const ID = sessionId("app-1");
const KEY = aTransition();
const UNCONFIRMED: CancelAnswer = { kind: "delivery_unconfirmed", detail: "no evidence" };
const ABSENT: CancelAnswer = { kind: "target_absent" };

/** A session whose turn `turn-1` has run since two milliseconds after `T0_MS`. */
async function aRunningWorld(...answers: readonly CancelAnswer[]): Promise<World> {
  const world = aWorld();
  await world.spawn({ prompt: null });
  await observeSessions(world.deps);
  recordTurnTransition(world.deps, aTransition({ occurredAtMs: T0_MS + 2 }));
  const [first, ...rest] = answers;
  if (first !== undefined) world.agent.answerCancels(first, ...rest);
  return world;
}

/** Moves the clock to a moment, in milliseconds after `T0_MS`. */
function at({ clock }: World, ms: number): void {
  clock.advance(T0_MS + ms - clock.nowMs());
}

const cancel = ({ deps }: World, options: Partial<CancelOptions> = {}) =>
  cancelTurn(deps, ID, { turnId: turnId(), reason: "user_requested", ...options });
const step = ({ deps }: World) => recoverOperations(deps);
const turn = ({ deps }: World) => deps.turns.get(KEY);
const operation = ({ deps }: World) =>
  deps.operations.ofSession(ID, 10).operations.find(({ kind }) => kind === "cancel_turn");
const calls = ({ agent }: World) => agent.cancels.length;
const completes = ({ deps }: World, occurredAtMs: number) =>
  recordTurnTransition(deps, aTransition({ phase: "settled", outcome: "completed", occurredAtMs }));

describe("the sequences that the source pins", () => {
  test("an earlier success stays one, and its agent is not told again", async () => {
    const world = await aRunningWorld(UNCONFIRMED);
    at(world, 1_000);
    expect(await cancel(world)).toMatchObject({
      state: "cancel_requested",
      intentAccepted: true,
      settled: false,
    });
    expect(operation(world)).toMatchObject({
      state: { kind: "prepared", nextAttemptAtMs: T0_MS + 2_000 },
      progress: { deliveryUnconfirmed: true },
    });
    expect(calls(world)).toBe(1);

    completes(world, T0_MS + 3);
    at(world, 2_000);
    expect((await step(world)).errors).toEqual([]);
    expect(operation(world)?.state).toMatchObject({
      kind: "completed",
      result: { result: "already_settled" },
    });
    expect(turn(world)?.state).toMatchObject({ kind: "settled", outcome: "completed" });
    expect(calls(world)).toBe(1);
  });

  test("that nothing runs any more does not make a later end a cancellation", async () => {
    const world = await aRunningWorld(UNCONFIRMED, ABSENT);
    at(world, 1_000);
    expect(await cancel(world)).toMatchObject({ state: "cancel_requested", intentAccepted: true });
    expect(calls(world)).toBe(1);

    at(world, 2_000);
    expect((await step(world)).errors).toEqual([]);
    expect(operation(world)).toMatchObject({
      state: { kind: "prepared", nextAttemptAtMs: T0_MS + 4_000 },
      progress: { deliveryUnconfirmed: true },
    });
    expect(turn(world)?.state.kind).toBe("running");
    expect(calls(world)).toBe(2);

    completes(world, T0_MS + 3);
    at(world, 4_000);
    expect((await step(world)).errors).toEqual([]);
    expect(operation(world)?.state).toMatchObject({
      kind: "completed",
      result: { result: "already_settled" },
    });
    expect(turn(world)?.state).toMatchObject({ kind: "settled", outcome: "completed" });
    expect(calls(world)).toBe(2);
  });

  test("a lost state settles the turn as failed, its end unknown, and is no error", async () => {
    const world = await aRunningWorld({ kind: "state_lost", detail: "the process is gone" });
    expect(await cancel(world)).toMatchObject({ state: "settled", settled: true, outcome: "failed" });
    expect(turn(world)).toMatchObject({
      state: { kind: "settled", outcome: "failed" },
      error: { code: "execution_status_unknown" },
    });
  });
});

describe("an answer of the agent", () => {
  const settledAs = (outcome: string) => ({ kind: "settled", outcome });
  const RUNS = { kind: "running" };
  const rows: readonly (readonly [string, boolean, CancelAnswer, object, object, boolean | null])[] = [
    [
      "confirmed",
      false,
      { kind: "confirmed" },
      { kind: "completed", result: { result: "canceled" } },
      settledAs("canceled"),
      true,
    ],
    [
      "confirmed",
      true,
      { kind: "confirmed" },
      { kind: "completed", result: { result: "canceled" } },
      settledAs("canceled"),
      true,
    ],
    [
      "target absent",
      false,
      ABSENT,
      { kind: "completed", result: { result: "canceled" } },
      settledAs("canceled"),
      false,
    ],
    ["target absent", true, ABSENT, { kind: "prepared" }, RUNS, false],
    [
      "state lost",
      false,
      { kind: "state_lost", detail: "gone" },
      { kind: "completed", result: { result: "execution_status_unknown" } },
      settledAs("failed"),
      false,
    ],
    [
      "state lost",
      true,
      { kind: "state_lost", detail: "gone" },
      { kind: "completed", result: { result: "execution_status_unknown" } },
      settledAs("failed"),
      false,
    ],
    ["delivery unconfirmed", false, UNCONFIRMED, { kind: "prepared" }, RUNS, false],
    ["delivery unconfirmed", true, UNCONFIRMED, { kind: "prepared" }, RUNS, false],
    ["disconnected", false, { kind: "disconnected", detail: "no" }, { kind: "prepared" }, RUNS, false],
    ["disconnected", true, { kind: "disconnected", detail: "no" }, { kind: "prepared" }, RUNS, false],
    ["another error", false, { kind: "error", code: "x", message: "no" }, { kind: "failed" }, RUNS, null],
    ["another error", true, { kind: "error", code: "x", message: "no" }, { kind: "failed" }, RUNS, null],
  ];

  test.each(rows)(
    "%s, marker set before: %s",
    async (_name, marker, answer, ofOperation, ofTurn, confirmed) => {
      const world = marker ? await aRunningWorld(UNCONFIRMED, answer) : await aRunningWorld(answer);
      if (marker) await cancel(world);
      world.clock.advance(marker ? 1_000 : 0);
      const result = await cancel(world).catch((error: unknown) => error);
      if (confirmed === null) expect(result).toMatchObject({ code: "delivery_failed" });
      else expect(result).toMatchObject({ providerConfirmed: confirmed, intentAccepted: true });
      expect(operation(world)?.state).toMatchObject(ofOperation);
      expect(turn(world)?.state).toMatchObject(ofTurn);
    },
  );

  test.each<[string, CancelAnswer, boolean]>([
    ["unconfirmed", UNCONFIRMED, true],
    ["disconnected", { kind: "disconnected", detail: "no" }, false],
  ])("%s leaves marker and schedule in one write", async (_name, answer, marker) => {
    const world = await aRunningWorld(answer);
    await cancel(world);
    expect(operation(world)).toMatchObject({
      progress: { deliveryUnconfirmed: marker, reason: "user_requested" },
      state: { nextAttemptAtMs: T0_MS + 1_000 },
      attempt: 1,
    });
  });

  test("that rejects may have stopped it", async () => {
    const world = await aRunningWorld();
    const cancelTurnOf = () => Promise.reject(new Error("socket hang up"));
    const agent = { ...world.agent, cancel: { kind: "call", cancelTurn: cancelTurnOf } } as const;
    const deps = { ...world.deps, agents: new Map([["memory", agent]]) };
    await cancelTurn(deps, ID, { reason: "x" });
    expect(operation(world)).toMatchObject({
      progress: { deliveryUnconfirmed: true },
      lastError: "socket hang up",
    });
  });

  test("that takes longer than a lease is its own all the while", async () => {
    const world = await aRunningWorld();
    const cancelTurnOf = async (): Promise<CancelAnswer> => {
      await world.clock.sleep(45_000);
      await recoverOperations(deps);
      return { kind: "confirmed" };
    };
    const agent = { ...world.agent, cancel: { kind: "call", cancelTurn: cancelTurnOf } } as const;
    const deps = { ...world.deps, agents: new Map([["memory", agent]]) };
    expect(await cancelTurn(deps, ID, { reason: "x" })).toMatchObject({ settled: true, outcome: "canceled" });
    expect(operation(world)).toMatchObject({ attempt: 1, state: { kind: "completed" } });
  });

  test("of an error does not keep the turn from being cancelled later", async () => {
    const world = await aRunningWorld({ kind: "error", code: "x", message: "no" }, { kind: "confirmed" });
    await expect(cancel(world)).rejects.toMatchObject({ code: "delivery_failed", details: { code: "x" } });
    const again = await cancel(world);
    expect(again).toMatchObject({ state: "settled", outcome: "canceled" });
    const { operations } = world.deps.operations.ofSession(ID, 10);
    expect(operations.filter(({ kind }) => kind === "cancel_turn")).toHaveLength(2);
  });
});

describe("a cancellation without anything to cancel", () => {
  test.each([
    ["of an unknown turn", { turnId: turnId("turn-9") }, "turn-9"],
    ["of a session that rests", undefined, null],
  ])("%s is no error, and nothing is on record", async (_name, options, named) => {
    const world = aWorld();
    await world.spawn({ prompt: null });
    const result = await cancelTurn(world.deps, ID, { reason: "x", ...options });
    expect(result).toEqual({
      ...{ operationId: null, turnId: named, state: "not_found", intentAccepted: false },
      ...{ providerConfirmed: false, settled: false, outcome: null },
    });
    expect(operation(world)).toBeUndefined();
  });

  test("of a settled turn tells how that ended, without an operation or a call", async () => {
    const world = aWorld();
    await world.spawn({ prompt: null });
    world.deps.turns.insert(aSettledTurn());
    expect(await cancel(world)).toMatchObject({
      ...{
        operationId: null,
        turnId: "turn-1",
        state: "already_settled",
        settled: true,
        outcome: "completed",
      },
    });
    expect([operation(world), calls(world)]).toEqual([undefined, 0]);
  });

  test("of a turn whose end was told and not read yet is the same", async () => {
    const world = await aRunningWorld();
    world.clock.advance(1_000);
    await world.hear(ID, "stop");
    expect(await cancel(world)).toMatchObject({ state: "already_settled", outcome: "completed" });
    expect(calls(world)).toBe(0);
  });

  test("of an unknown session, or by an agent that cannot, is refused before anything", async () => {
    await expect(cancelTurn(aWorld().deps, ID, { reason: "x" })).rejects.toMatchObject({
      code: "session_not_found",
    });
    const world = await aRunningWorld();
    const { cancel: _cancel, ...agent } = world.agent;
    const deps = { ...world.deps, agents: new Map([["memory", agent]]) };
    await expect(cancelTurn(deps, ID, { reason: "x" })).rejects.toMatchObject({ code: "cancel_unsupported" });
    expect(operation(world)).toBeUndefined();
  });
});

describe("a repeated cancellation", () => {
  test("does not jump the queue, whatever its reason is; then it is the next try", async () => {
    const world = await aRunningWorld(UNCONFIRMED, { kind: "confirmed" });
    const first = await cancel(world);
    world.clock.advance(999);
    expect(await cancel(world, { reason: "again" })).toEqual(first);
    expect(calls(world)).toBe(1);
    world.clock.advance(1);
    expect(await cancel(world)).toMatchObject({
      ...{ operationId: first.operationId, state: "settled", providerConfirmed: true, outcome: "canceled" },
    });
    expect(calls(world)).toBe(2);
  });
});

describe("the bounds of a cancellation", () => {
  test("after 24 tries the end of the turn is unknown", async () => {
    const world = await aRunningWorld(UNCONFIRMED);
    await cancel(world);
    const row = operation(world);
    if (row === undefined) throw new Error("there is no operation");
    world.deps.operations.save({ ...row, attempt: 22, version: row.version + 1 }, row.version);
    world.clock.advance(1_000);
    await step(world);
    expect([operation(world)?.attempt, turn(world)?.state.kind]).toEqual([23, "running"]);
    world.clock.advance(256_000);
    await step(world);
    expect(turn(world)).toMatchObject({
      state: { outcome: "failed" },
      error: { code: "execution_status_unknown" },
    });
    expect(operation(world)?.state).toMatchObject({ result: { result: "execution_status_unknown" } });
  });

  test("after ten minutes it is, with the next try", async () => {
    const world = await aRunningWorld(UNCONFIRMED);
    await cancel(world);
    world.clock.advance(599_999);
    await step(world);
    expect(turn(world)?.state.kind).toBe("running");
    world.clock.advance(60_000);
    await step(world);
    expect(turn(world)).toMatchObject({ state: { outcome: "failed" } });
    expect(calls(world)).toBe(3);
  });
});

describe("a turn that is being cancelled", () => {
  test("and whose end was told and not read yet is over for the next try, which tells its agent nothing", async () => {
    const world = await aRunningWorld(UNCONFIRMED);
    await cancel(world);
    await world.hear(ID, "stop");
    world.clock.advance(1_000);
    expect((await step(world)).errors).toEqual([]);
    expect(operation(world)?.state).toMatchObject({
      kind: "completed",
      result: { result: "already_settled" },
    });
    expect(turn(world)?.state).toMatchObject({ kind: "settled", outcome: "completed" });
    expect(calls(world)).toBe(1);
  });

  test("is left to that by the end of its session, and settled by recovery before the rest", async () => {
    const world = await aRunningWorld(UNCONFIRMED, { kind: "state_lost", detail: "gone" });
    await cancel(world);
    await world.kill(ID);
    await observeSessions(world.deps);
    expect(turn(world)?.state.kind).toBe("running");
    world.clock.advance(1_000);
    await step(world);
    await observeSessions(world.deps);
    expect(turn(world)).toMatchObject({
      state: { outcome: "failed" },
      error: { code: "execution_status_unknown" },
    });
  });

  test("does not keep its session from being killed and restored", async () => {
    const world = await aRunningWorld(UNCONFIRMED);
    await cancel(world);
    await world.kill(ID);
    await world.restore(ID);
    expect(world.row(ID).lifecycle.session.state).toBe("not_started");
  });

  test("is canceled when its interruption is heard later", async () => {
    const world = await aRunningWorld(UNCONFIRMED);
    await cancel(world);
    world.clock.advance(500);
    await world.hear(ID, "interrupt");
    await observeSessions(world.deps);
    expect(turn(world)?.state).toMatchObject({ outcome: "canceled" });
    world.clock.advance(500);
    await step(world);
    expect(operation(world)?.state).toMatchObject({ result: { result: "canceled", outcome: "canceled" } });
    expect(calls(world)).toBe(1);
  });
});

describe("a process that died over a cancellation", () => {
  test("before its agent was told is followed by another try", async () => {
    const world = await aRunningWorld({ kind: "confirmed" });
    await dyingAt(world, "cancel.mark:before");
    await step(world);
    expect(turn(world)?.state).toMatchObject({ outcome: "canceled" });
  });

  test("once it may have told its agent has left a marker: that nothing runs proves nothing then", async () => {
    const world = await aRunningWorld(ABSENT);
    await dyingAt(world, "cancel.tell:before");
    await step(world);
    expect(turn(world)?.state.kind).toBe("running");
    expect(operation(world)).toMatchObject({
      state: { kind: "prepared" },
      progress: { deliveryUnconfirmed: true },
    });
  });

  async function dyingAt(world: World, boundary: string): Promise<void> {
    const process = world.processes.add({ command: "ao" });
    let isAt: () => void = () => undefined;
    const died = new Promise<void>((resolve) => {
      isAt = resolve;
    });
    const deps: SessionDeps = {
      ...world.deps,
      self: { process, command: "ao cancel" },
      // A lock of one that died is free.
      locks: memoryLocks(),
      boundary: async (name) => {
        if (name !== boundary) return;
        world.processes.kill(process.pid);
        isAt();
        await new Promise<never>(() => undefined);
      },
    };
    void cancelTurn(deps, ID, { reason: "x" });
    await died;
  }
});
