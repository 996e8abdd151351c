import { describe, expect, test } from "vitest";
import { AoError } from "../../../../src/domain/errors.ts";
import { cancelTurn } from "../../../../src/lifecycle/cancel/cancel-turn.ts";
import type { SessionDeps } from "../../../../src/lifecycle/deps.ts";
import { sendMessage } from "../../../../src/lifecycle/messages/send-message.ts";
import { observeSessions } from "../../../../src/lifecycle/observe/observe-sessions.ts";
import { recoverOperations } from "../../../../src/lifecycle/recovery/recover-operations.ts";
import { sessionId } from "../../../support/builders.ts";
import { aTransition, aTurnIn, turnId } from "../../../support/turns.ts";
import { aWorld, type World } from "../../../support/world.ts";

const ID = sessionId("app-1");
const KEY = aTransition();

const cancel = ({ deps }: World) => cancelTurn(deps, ID, { turnId: turnId(), reason: "user_requested" });
const turn = ({ deps }: World) => deps.turns.get(KEY);
const operation = ({ deps }: World) =>
  deps.operations.ofSession(ID, 10).operations.find(({ kind }) => kind === "cancel_turn");

describe("an agent that is stopped by keys", () => {
  const pressing = async (
    onPressed: (world: World) => Promise<void>,
    phase: "running" | "submitted" = "running",
  ) => {
    const world = aWorld();
    await world.spawn({ prompt: null });
    await observeSessions(world.deps);
    world.deps.turns.insert(aTurnIn({ kind: phase }));
    const keys: string[] = [];
    const messenger: SessionDeps["messenger"] = {
      ...world.deps.messenger,
      async press(_target, pressed) {
        keys.push(...pressed);
        await onPressed(world);
        return { kind: "typed" };
      },
    };
    const agent = { ...world.agent, cancel: { kind: "keys", keys: ["Escape"] } } as const;
    const life = { isOver: false };
    const look: SessionDeps["processes"]["look"] = async (identities) =>
      identities.map(() => ({ kind: life.isOver ? "dead" : "alive" }));
    const processes = { ...world.deps.processes, look };
    const deps = { ...world.deps, messenger, processes, agents: new Map([["memory", agent]]) };
    return { world: { ...world, deps }, keys, life };
  };
  const interrupts = async (world: World) => {
    world.clock.advance(10);
    await world.hear(ID, "interrupt");
  };

  test("is waited for by the clock, however long each look takes", async () => {
    const { world } = await pressing(async () => undefined);
    const { inbox } = world.deps;
    const pending = () => {
      world.clock.advance(1_000);
      return inbox.pending();
    };
    const startedAtMs = world.clock.nowMs();
    const deps = { ...world.deps, inbox: { ...inbox, pending } };
    await cancelTurn(deps, ID, { turnId: turnId(), reason: "x" });
    expect(world.clock.nowMs() - startedAtMs).toBeLessThan(15_000);
  });

  test("is confirmed by its own word", async () => {
    const { world, keys } = await pressing(interrupts);
    expect(await cancel(world)).toMatchObject({
      ...{ state: "settled", outcome: "canceled", providerConfirmed: true, settled: true },
    });
    expect(keys).toEqual(["Escape"]);
  });

  test("is not confirmed when it says nothing for three seconds", async () => {
    const { world } = await pressing(async () => undefined);
    const startedAtMs = world.clock.nowMs();
    expect(await cancel(world)).toMatchObject({ state: "cancel_requested", providerConfirmed: false });
    expect(world.clock.nowMs() - startedAtMs).toBe(3_000);
    expect(operation(world)).toMatchObject({ progress: { deliveryUnconfirmed: true } });
  });

  test.each([
    { when: "before the next try", at: null, isNext: false, ended: 1 },
    { when: "while the next try comes to it", at: "cancel.tell:before", isNext: false, ended: 1 },
    { when: "and has another turn then", at: null, isNext: true, ended: 0 },
  ])("that stops after those three seconds, $when, has $ended tools ended", async (row) => {
    const { world } = await pressing(async () => undefined);
    const mark = { name: "CALL_ID", value: "call-1" };
    const { launchId } = world.row(ID).metadata;
    world.processes.add({ environment: { AO_LAUNCH_ID: launchId ?? "", CALL_ID: mark.value } });
    const agent = { ...world.agent, cancel: { kind: "keys", keys: [], toolMarks: async () => [mark] } };
    const deps = { ...world.deps, agents: new Map([["memory", agent]]) } as SessionDeps;
    await cancelTurn(deps, ID, { turnId: turnId(), reason: "x" });
    world.clock.advance(10_000);
    const boundary = async (name: string) => {
      if (name === row.at) await interrupts(world);
    };
    if (row.at === null) await interrupts(world);
    if (row.isNext) {
      await observeSessions(deps);
      deps.turns.insert(aTurnIn({ kind: "running" }, { turnId: "turn-2", sequence: 2 }));
    }
    expect((await recoverOperations({ ...deps, boundary })).errors).toEqual([]);
    expect(turn(world)?.state).toMatchObject({ kind: "settled", outcome: "canceled" });
    expect(world.processes.sent).toHaveLength(row.ended);
  });

  test("gets no key once the turn has ended, however late the process comes to it, nor does the next turn", async () => {
    const { world, keys } = await pressing(interrupts);
    const boundary = async (name: string) => {
      if (name !== "cancel.tell:before") return;
      world.clock.advance(10);
      await world.hear(ID, "stop");
      expect(await sendMessage(world.deps, ID, "next", { timeoutMs: 0 })).toMatchObject({ state: "queued" });
      expect(world.messenger.sent).toEqual([]);
    };
    const result = await cancel({ ...world, deps: { ...world.deps, boundary } });
    expect(result).toMatchObject({ state: "settled", outcome: "completed", providerConfirmed: false });
    expect(keys).toEqual([]);
  });

  test("gets no key from a process whose cancellation another one carries on", async () => {
    const { world, keys } = await pressing(interrupts);
    const boundary = async (name: string) => {
      if (name !== "cancel.tell:before") return;
      const held = operation(world);
      if (held?.state.kind !== "leased") throw new Error("nobody holds it");
      const state = { ...held.state, token: "another" };
      world.deps.operations.save({ ...held, state, version: held.version + 1 }, held.version);
    };
    const canceling = cancel({ ...world, deps: { ...world.deps, boundary } });
    await expect(canceling).rejects.toMatchObject({ code: "operation_in_progress" });
    expect(keys).toEqual([]);
  });

  test("tells all who ask at once the same end, and gets its key once", async () => {
    const { world, keys } = await pressing(async () => {
      for (let ask = 0; ask < 4; ask += 1) others.push(cancel(world));
      await Promise.resolve();
      await interrupts(world);
    });
    const others: ReturnType<typeof cancel>[] = [];
    const results = [await cancel(world), ...(await Promise.all(others))];
    expect(results.map(({ state, outcome }) => [state, outcome])).toEqual(
      results.map(() => [expect.stringMatching(/settled$/), "canceled"]),
    );
    expect(keys).toEqual(["Escape"]);
  });

  test("has its own end stand when it finishes at that moment", async () => {
    const { world } = await pressing(async (inner) => {
      inner.clock.advance(10);
      await inner.hear(ID, "stop");
    });
    expect(await cancel(world)).toMatchObject({
      ...{ state: "settled", outcome: "completed", providerConfirmed: false },
    });
    expect(operation(world)?.state).toMatchObject({ result: { result: "already_settled" } });
  });

  test("gets no key before it has taken the prompt up", async () => {
    const { world, keys } = await pressing(interrupts, "submitted");
    expect(await cancel(world)).toMatchObject({ state: "cancel_requested" });
    expect(keys).toEqual([]);
    expect(operation(world)).toMatchObject({ progress: { deliveryUnconfirmed: false } });
  });

  test("that is proven dead has its turn settled as unknown", async () => {
    const { world, keys, life } = await pressing(interrupts);
    world.runtime.exitAgent(ID, null, "9");
    life.isOver = true;
    expect(await cancel(world)).toMatchObject({ state: "settled", outcome: "failed" });
    expect(keys).toEqual([]);
  });

  test("that dies of the key has its turn settled as unknown", async () => {
    const { world, keys, life } = await pressing(async () => {
      life.isOver = true;
    });
    expect(await cancel(world)).toMatchObject({ state: "settled", outcome: "failed" });
    expect(keys).toEqual(["Escape"]);
  });

  test("that is gone without proof is tried again", async () => {
    const { world } = await pressing(interrupts);
    world.runtime.setLook(ID, { runtime: { kind: "missing" }, process: { kind: "indeterminate" } });
    expect(await cancel(world)).toMatchObject({ state: "cancel_requested" });
  });

  test("whose runtime cannot be seen is tried again", async () => {
    const { world, keys } = await pressing(interrupts);
    world.runtime.failNext("look", new AoError("runtime_unavailable", "tmux: timed out"));
    expect(await cancel(world)).toMatchObject({ state: "cancel_requested" });
    expect(keys).toEqual([]);
    world.clock.advance(1_000);
    expect(await cancel(world)).toMatchObject({ state: "settled", outcome: "canceled" });
  });
});
