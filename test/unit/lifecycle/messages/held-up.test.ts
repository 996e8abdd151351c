import { describe, expect, test } from "vitest";
import type { JsonValue } from "../../../../src/domain/canonical-json.ts";
import { isExclusive, OPERATION_KINDS, type OperationKind } from "../../../../src/domain/operation.ts";
import { deliverNext } from "../../../../src/lifecycle/messages/deliver-next.ts";
import { deliverQueued } from "../../../../src/lifecycle/messages/deliver-queued.ts";
import { sendMessage } from "../../../../src/lifecycle/messages/send-message.ts";
import { operationLedger } from "../../../../src/lifecycle/operations/ledger.ts";
import { rewindSession } from "../../../../src/lifecycle/salvage/rewind-session.ts";
import { workspaceRef } from "../../../../src/lifecycle/session-refs.ts";
import type { World } from "../../../support/world.ts";
import { aRestingWorld, ID, queued, stored, turnsOf, typed } from "./message-world.ts";

/** Another process holds an operation of the session. */
function holding({ deps, row }: World, kind: OperationKind, input: JsonValue = null) {
  const { projectId } = row(ID);
  const request = { kind, projectId, sessionId: ID, identifyingSessionId: ID, subject: kind };
  const begun = operationLedger(deps).begin({ ...request, input, progress: null });
  if (begun.kind !== "begun") throw new Error(`it is ${begun.kind}`);
  return begun.operation;
}

const exclusive = OPERATION_KINDS.filter(isExclusive);

describe("while an operation has its session for itself", () => {
  test.each(exclusive)("of kind %s a message waits in its queue, and goes after it", async (kind) => {
    const world = await aRestingWorld();
    const held = holding(world, kind);
    const message = await queued(world);
    expect(await deliverNext(world.deps, ID)).toMatchObject({
      kind: "not_ready",
      why: expect.stringContaining("not finished"),
    });
    expect(await deliverQueued(world.deps)).toEqual({ messages: [], errors: [] });
    expect(stored(world, message).state.kind).toBe("queued");
    operationLedger(world.deps).complete(held, null);
    expect(await deliverNext(world.deps, ID)).toMatchObject({ kind: "tried" });
  });

  test("a sender is told what its message waits for", async () => {
    const world = await aRestingWorld();
    holding(world, "rewind");
    expect(await sendMessage(world.deps, ID, "hello", { timeoutMs: 500 })).toMatchObject({
      state: "queued",
      waitsFor: "the rewind of its session is not finished",
    });
    expect(typed(world)).toEqual([]);
  });

  test("one that begins after the look, and before the message is marked, keeps it from the agent", async () => {
    const world = await aRestingWorld();
    await queued(world);
    const boundary = async (name: string) => {
      if (name === "send.mark:before") holding(world, "rewind");
    };
    expect(await deliverNext({ ...world.deps, boundary }, ID)).toMatchObject({ kind: "not_ready" });
    expect(typed(world)).toEqual([]);
  });
});

test("a rewind does not begin once a message was marked, however lately", async () => {
  const world = await aRestingWorld();
  await queued(world, "first");
  await deliverNext(world.deps, ID);
  world.clock.advance(1_000);
  await world.hear(ID, "stop");
  await deliverNext(world.deps, ID);
  const [turn] = turnsOf(world);
  if (turn === undefined) throw new Error("no turn");
  const taken = await world.deps.snapshots.take(workspaceRef(world.row(ID)), turn.turnId, "end");
  if (taken !== null) world.deps.turns.keepCheckpoint(turn, "end", taken);
  await queued(world, "second");
  const boundary = async (name: string) => {
    if (name === "rewind.begin:before") await deliverNext(world.deps, ID);
  };
  const rewinding = rewindSession({ ...world.deps, boundary }, ID, { turnId: turn.turnId });
  await expect(rewinding).rejects.toMatchObject({ code: "busy" });
  expect(typed(world)).toEqual(["first", "second"]);
});
