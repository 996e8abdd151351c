import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { RuntimeObservation } from "../../../src/domain/facts.ts";
import { ACTIVITY_STATES, type ActivityState } from "../../../src/domain/lifecycle.ts";
import { afterFacts, type Fact } from "../../../src/lifecycle/record-changes.ts";
import {
  aKilledSession,
  anActivitySignal,
  aSession,
  aWorkingLifecycle,
  launchId,
  T0_MS,
} from "../../support/builders.ts";

const LAUNCH = launchId("launch-1");
const CONTEXT = { nowMs: T0_MS + 1000, digest: (text: string) => text };
const DYING: RuntimeObservation = {
  runtime: { kind: "exited", exitStatus: null, signal: "9" },
  process: { kind: "dead" },
};
const LOOK: Fact = { kind: "look", launchId: LAUNCH, observation: DYING };

function anEvent(id: string, state: ActivityState, atMs = T0_MS, from = LAUNCH): Fact {
  const readAtMs = CONTEXT.nowMs;
  const signal = anActivitySignal({ state, atMs: Math.min(atMs, readAtMs), launchId: from });
  const says = [
    { kind: "activity", signal } as const,
    { kind: "conversation", launchId: from, agentSessionId: `conversation-${id}` } as const,
  ];
  return { kind: "event", event: { id, launchId: from, atMs, readAtMs }, says, asks: null };
}

describe("facts", () => {
  test("of another launch change nothing", () => {
    const record = aSession();
    const other = launchId("launch-0");
    const facts: readonly Fact[] = [anEvent("a", "active", T0_MS, other), { ...LOOK, launchId: other }];
    expect(afterFacts(record, facts, CONTEXT)).toBe(record);
  });

  test("of an event that counted change nothing the second time, all that it says included", () => {
    const first = afterFacts(aSession(), [anEvent("a", "active"), anEvent("b", "ready")], CONTEXT);
    expect(first).toMatchObject({
      lifecycle: { session: { state: "idle" } },
      metadata: { agentSessionId: "conversation-b" },
    });
    expect(afterFacts(first, [anEvent("a", "active")], CONTEXT)).toBe(first);
  });

  test("of a terminal session tell its conversation and nothing else", () => {
    const record = aKilledSession();
    const metadata = { ...record.metadata, agentSessionId: "conversation-a" };
    expect(afterFacts(record, [anEvent("a", "active")], CONTEXT)).toEqual({ ...record, metadata });
  });

  test("never lose doubt to events that counted, in whatever order they are read again", () => {
    const anyEvent = fc
      .tuple(fc.constantFrom(...ACTIVITY_STATES), fc.integer({ min: -5, max: 5 }))
      .map(([state, ms]) => ({ state, atMs: T0_MS + ms }));
    const readAgain = (count: number) =>
      fc.array(fc.nat({ max: count - 1 }), { minLength: 1, maxLength: 2 * count });
    const heardThenRead = fc
      .array(anyEvent, { minLength: 1, maxLength: 8 })
      .chain((heard) => fc.tuple(fc.constant(heard), readAgain(heard.length)));
    fc.assert(
      fc.property(heardThenRead, ([heard, again]) => {
        const events = heard.map(({ state, atMs }, index) => anEvent(String(index), state, atMs));
        const inOrder = events.toSorted((one, other) => timeOf(one) - timeOf(other));
        const before = aSession({ lifecycle: aWorkingLifecycle() });
        const doubtful = afterFacts(before, [...inOrder, LOOK], CONTEXT);
        const replayed = again.flatMap((index) => events[index] ?? []);
        expect(afterFacts(doubtful, replayed, CONTEXT)).toBe(doubtful);
      }),
    );
  });
});

function timeOf(fact: Fact): number {
  return fact.kind === "event" ? fact.event.atMs : 0;
}
