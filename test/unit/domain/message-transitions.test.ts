import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Message, MessageState } from "../../../src/domain/message.ts";
import {
  beginDelivery,
  cancelMessage,
  confirmDelivery,
  failDelivery,
  leaveUnconfirmed,
  queueMessage,
  takeBackDelivery,
} from "../../../src/domain/message-transitions.ts";
import { T0_MS } from "../../support/builders.ts";
import { aDelivery, aMessage, aMessageIn } from "../../support/messages.ts";
import { turnId } from "../../support/turns.ts";

const LATER_MS = T0_MS + 1_000;
const delivery = aDelivery();
const error = { code: "delivery_failed", message: "the terminal takes no input" };

const STATES: { readonly [Kind in MessageState["kind"]]: Extract<MessageState, { readonly kind: Kind }> } = {
  queued: { kind: "queued" },
  delivering: { kind: "delivering", delivery },
  delivered: { kind: "delivered", delivery, atMs: T0_MS },
  unconfirmed: { kind: "unconfirmed", delivery },
  failed: { kind: "failed", error },
  cancelled: { kind: "cancelled", reason: "the session ended" },
};
const KINDS = Object.keys(STATES) as readonly MessageState["kind"][];

const STEPS: {
  readonly [Step: string]: { readonly from: readonly string[]; readonly run: (one: Message) => Message };
} = {
  beginDelivery: { from: ["queued"], run: (one) => beginDelivery(one, aDelivery({ sinceMs: LATER_MS })) },
  confirmDelivery: {
    from: ["delivering", "unconfirmed"],
    run: (one) => confirmDelivery(one, turnId("turn-2"), LATER_MS),
  },
  leaveUnconfirmed: { from: ["delivering"], run: (one) => leaveUnconfirmed(one, LATER_MS) },
  takeBackDelivery: { from: ["delivering"], run: (one) => takeBackDelivery(one, LATER_MS) },
  failDelivery: { from: ["delivering"], run: (one) => failDelivery(one, error, LATER_MS) },
  cancelMessage: { from: ["queued"], run: (one) => cancelMessage(one, "given up", LATER_MS) },
};

test("a message that was just accepted is queued", () => {
  const {
    state: _state,
    createdAtMs: _created,
    updatedAtMs: _updated,
    version: _version,
    ...rest
  } = aMessage();
  expect(queueMessage(rest, T0_MS)).toEqual(aMessage());
});

describe("a step", () => {
  const rows = Object.entries(STEPS).flatMap(([name, step]) =>
    KINDS.map((kind) => [name, kind, step.from.includes(kind)] as const),
  );

  test.each(rows)("%s of a message that is %s: taken is %s", (name, kind, isTaken) => {
    const before = aMessageIn<MessageState>(STATES[kind]);
    const after = STEPS[name]?.run(before);
    if (isTaken) expect(after).toMatchObject({ version: 2, updatedAtMs: LATER_MS });
    else expect(after).toBe(before);
  });
});

describe("a receipt", () => {
  test("names the turn that took the message up, whichever was expected", () => {
    const after = confirmDelivery(aMessageIn(STATES.unconfirmed), turnId("turn-9"), LATER_MS);
    expect(after.state).toEqual({
      kind: "delivered",
      delivery: { ...delivery, turnId: "turn-9" },
      atMs: LATER_MS,
    });
  });
});

test("time never goes back though the clock does", () => {
  const after = cancelMessage(aMessage(), "given up", T0_MS - 60_000);
  expect(after.updatedAtMs).toBe(T0_MS);
});

test("keys that may have been sent are never sent again, but with proof that nothing was typed", () => {
  const steps = Object.values(STEPS).map(({ run }) => run);
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...steps), { maxLength: 10 }), (taken) => {
      taken.reduce((before, run) => {
        const after = run(before);
        const isBegun = after.state.kind === "delivering" && before.state.kind !== "delivering";
        if (isBegun) expect(before.state.kind).toBe("queued");
        const isQueuedAgain = after.state.kind === "queued" && before.state.kind !== "queued";
        if (isQueuedAgain) expect(run).toBe(STEPS["takeBackDelivery"]?.run);
        return after;
      }, aMessage());
    }),
  );
});
