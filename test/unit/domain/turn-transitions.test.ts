import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  isLiveTurn,
  isSettledTurn,
  TURN_OUTCOMES,
  TURN_PHASES,
  type Turn,
  type TurnPhase,
} from "../../../src/domain/turn.ts";
import {
  decideTurnTransition,
  type TurnDecision,
  type TurnTransition,
} from "../../../src/domain/turn-transitions.ts";
import { launchId, T0_MS } from "../../support/builders.ts";
import { aSettledTurn, aTransition, aTurn, aTurnIn, messageId } from "../../support/turns.ts";
import { aTimeMs } from "./arbitraries.ts";

const LATER_MS = T0_MS + 1_000;

function aTurnAt(phase: TurnPhase): Turn {
  return phase === "settled" ? aSettledTurn() : aTurnIn({ kind: phase });
}

function decide(stored: Turn | undefined, transition: TurnTransition, live = stored): TurnDecision {
  const slot = { stored, live: live && isLiveTurn(live) ? live : undefined, lastSequence: 1 };
  return decideTurnTransition(slot, transition);
}

function accepted(stored: Turn | undefined, transition: TurnTransition): Turn {
  const decision = decide(stored, transition);
  if (decision.kind === "accepted") return decision.turn;
  throw new Error(`not accepted but ${decision.kind}`);
}

describe("the phase of a turn", () => {
  const MAY_FOLLOW: { readonly [Phase in TurnPhase]: string } = {
    submitted: "submitted running waiting settling settled",
    running: "running waiting settling settled",
    waiting: "running waiting settling settled",
    settling: "settling settled",
    settled: "",
  };
  const rows = TURN_PHASES.flatMap((from) =>
    TURN_PHASES.map((to) => [from, to, MAY_FOLLOW[from].split(" ").includes(to)] as const),
  );

  test.each(rows)("from %s to %s: accepted is %s", (from, to, isAllowed) => {
    const stored = aTurnAt(from);
    const decision = decide(stored, aTransition({ phase: to, occurredAtMs: LATER_MS }));
    expect(decision).toMatchObject(
      isAllowed ? { kind: "accepted", turn: { state: { kind: to } } } : { kind: "rejected", turn: stored },
    );
  });

  test.each(TURN_PHASES)("a turn may be first heard of when it is %s", (phase) => {
    const turn = accepted(undefined, aTransition({ phase, birth: { messageId: messageId() } }));
    expect(turn).toMatchObject({
      ...{ turnId: "turn-1", sequence: 2, version: 1, messageId: "message-1", createdAtMs: T0_MS },
      state: { kind: phase },
    });
  });
});

describe("the time of an event", () => {
  test("of the stored moment counts, an older one does not", () => {
    const stored = aTurn();
    expect(accepted(stored, aTransition({ phase: "waiting" })).state.kind).toBe("waiting");
    const older = aTransition({ phase: "waiting", occurredAtMs: T0_MS - 1 });
    expect(decide(stored, older)).toEqual({ kind: "rejected", turn: stored });
  });

  test("is the turn's from then on", () => {
    expect(accepted(aTurn(), aTransition({ occurredAtMs: LATER_MS }))).toMatchObject({
      updatedAtMs: LATER_MS,
      version: 2,
    });
  });

  test("of the first sign of work is when the turn started; submission and end are none", () => {
    const submitted = accepted(undefined, aTransition({ phase: "submitted" }));
    expect(submitted.startedAtMs).toBeNull();
    expect(accepted(submitted, aTransition({ phase: "settled" })).startedAtMs).toBeNull();
    const running = accepted(submitted, aTransition({ occurredAtMs: LATER_MS }));
    expect(running.startedAtMs).toBe(LATER_MS);
    const done = accepted(running, aTransition({ phase: "settled", occurredAtMs: LATER_MS + 5 }));
    expect(done.startedAtMs).toBe(LATER_MS);
  });
});

describe("an end", () => {
  test("without an outcome is completed", () => {
    const settled = accepted(aTurn(), aTransition({ phase: "settled", occurredAtMs: LATER_MS }));
    expect(settled.state).toEqual({ kind: "settled", outcome: "completed", atMs: LATER_MS });
  });

  test.each(TURN_OUTCOMES)("as %s is that", (outcome) => {
    expect(accepted(aTurn(), aTransition({ phase: "settled", outcome })).state).toMatchObject({ outcome });
  });

  test("is dropped of a phase that is none", () => {
    expect(accepted(aTurn(), aTransition({ phase: "waiting", outcome: "failed" })).state).toEqual({
      kind: "waiting",
    });
  });

  test("keeps what went wrong before it, unless it was canceled", () => {
    const error = { code: "api_error", message: "overloaded" };
    const troubled = accepted(aTurn(), aTransition({ error }));
    expect(accepted(troubled, aTransition({ phase: "settled", outcome: "failed" })).error).toEqual(error);
    expect(accepted(troubled, aTransition({ phase: "settled", outcome: "canceled" })).error).toBeNull();
  });

  test("of a turn that nobody had heard of is recorded though another one goes on", () => {
    const live = aTurn({ turnId: "turn-0" });
    const decision = decide(undefined, aTransition({ phase: "settled" }), live);
    expect(decision).toMatchObject({ kind: "accepted", turn: { sequence: 2 } });
  });
});

test("a second turn that would go on beside another is a conflict", () => {
  const live = aTurn({ turnId: "turn-0" });
  expect(decide(undefined, aTransition(), live)).toEqual({ kind: "conflict", live });
});

test("where a turn comes from never changes", () => {
  const birth = { launchId: launchId("launch-2"), origin: "unknown", messageId: messageId() } as const;
  expect(accepted(aTurn(), aTransition({ birth }))).toMatchObject({
    launchId: "launch-1",
    origin: "user_prompt",
    messageId: null,
  });
});

test("whatever comes in whatever order, time never goes back, and what is settled stays", () => {
  const anyTransition = fc.record({
    phase: fc.constantFrom(...TURN_PHASES),
    outcome: fc.constantFrom(...TURN_OUTCOMES),
    occurredAtMs: aTimeMs,
  });
  const step = (before: Turn | undefined, transition: Partial<TurnTransition>): Turn => {
    const decision = decide(before, aTransition({ ...transition, turnId: "turn-1", birth: {} }));
    if (decision.kind === "conflict") throw new Error("a turn conflicts with itself");
    const { turn } = decision;
    const stays = decision.kind === "rejected" || (before !== undefined && isSettledTurn(before));
    if (stays) expect(turn).toBe(before);
    else expect(turn.version).toBe((before?.version ?? 0) + 1);
    expect(turn.updatedAtMs).toBeGreaterThanOrEqual(before?.updatedAtMs ?? 0);
    return turn;
  };
  fc.assert(
    fc.property(fc.array(anyTransition, { minLength: 1, maxLength: 12 }), (transitions) => {
      transitions.reduce<Turn | undefined>(step, undefined);
    }),
  );
});
