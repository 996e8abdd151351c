import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isSent, type Message, type SentMessage } from "../../../src/domain/message.ts";
import { isLiveTurn, type LiveTurn, type Turn } from "../../../src/domain/turn.ts";
import { type BookContext, type BookPage, openPage, type TurnBook } from "../../../src/domain/turn-book.ts";
import { afterEvidence, endTurns, supersede, type TurnEvidence } from "../../../src/domain/turn-evidence.ts";
import type { TurnSignal } from "../../../src/domain/turn-signal.ts";
import { launchId, projectId, sessionId, T0_MS } from "../../support/builders.ts";
import { aDelivery, aMessageIn } from "../../support/messages.ts";
import { aSettledTurn, aTurn, aTurnIn, messageId, turnId } from "../../support/turns.ts";

const LATER_MS = T0_MS + 1_000;

function aBook(turns: readonly Turn[] = [], sent: readonly SentMessage[] = []): TurnBook {
  const live: LiveTurn | undefined = turns.find(isLiveTurn);
  return { projectId: projectId("app"), sessionId: sessionId("app-1"), live, newest: turns.at(-1), sent };
}

function context(turns: readonly Turn[] = [], overrides: Partial<BookContext> = {}): BookContext {
  return {
    find: (id) => turns.find((turn) => turn.turnId === id),
    isSameText: (sent, heard) => sent.trimEnd() === heard.trimEnd(),
    isCancelling: () => false,
    ...overrides,
  };
}

let events = 0;

function anEvidence(signal: TurnSignal | null, overrides: Partial<TurnEvidence> = {}): TurnEvidence {
  events += 1;
  return {
    launchId: launchId("launch-1"),
    turnId: turnId(`event-${events}`),
    atMs: LATER_MS,
    isNext: true,
    signal,
    activity: null,
    ...overrides,
  };
}

const submitted = (text: string | null): TurnSignal => ({ kind: "submitted", text });
const STOPPED: TurnSignal = { kind: "stopped" };

interface Told {
  readonly turns?: readonly Turn[];
  readonly sent?: readonly SentMessage[];
  readonly context?: Partial<BookContext>;
}

/** What a book becomes by some events, in order. */
function tell(told: Told, ...evidence: readonly TurnEvidence[]): BookPage {
  const asked = context(told.turns, told.context);
  return evidence.reduce(
    (page, one) => afterEvidence(page, asked, one),
    openPage(aBook(told.turns, told.sent)),
  );
}

function turnsOf({ changes }: BookPage): readonly Turn[] {
  return changes.flatMap((change) => (change.kind === "turn" ? [change.turn] : []));
}

function messagesOf({ changes }: BookPage): readonly Message[] {
  return changes.flatMap((change) => (change.kind === "message" ? [change.message] : []));
}

/** Each change of a turn as `<turn> <phase or outcome>`. */
function story(page: BookPage): readonly string[] {
  return turnsOf(page).map(({ turnId: id, state }) =>
    [id.replace(/^event-\d+$/, "new"), state.kind === "settled" ? state.outcome : state.kind].join(" "),
  );
}

const onItsWay = aMessageIn({ kind: "delivering", delivery: aDelivery() });
const expected = aTurnIn({ kind: "submitted" }, { messageId: messageId() });

describe("a prompt that a message of ours carried", () => {
  test("runs the turn that was expected, and is the message's receipt", () => {
    const page = tell({ turns: [expected], sent: [onItsWay] }, anEvidence(submitted("hello\n")));
    expect(story(page)).toEqual(["turn-1 running"]);
    expect(messagesOf(page)).toMatchObject([
      { id: "message-1", state: { kind: "delivered", delivery: { turnId: "turn-1" }, atMs: LATER_MS } },
    ]);
    expect(page.book.sent).toEqual([]);
  });

  test("may be dated a moment before its keys were sent", () => {
    const page = tell(
      { turns: [expected], sent: [onItsWay] },
      anEvidence(submitted("hello"), { atMs: T0_MS - 4 }),
    );
    expect(turnsOf(page)).toMatchObject([{ state: { kind: "running" }, updatedAtMs: T0_MS }]);
  });

  test("confirms it also when nobody believed in it any more", () => {
    const late = aMessageIn({ kind: "unconfirmed", delivery: aDelivery() });
    const page = tell({ turns: [expected], sent: [late] }, anEvidence(submitted("hello")));
    expect(messagesOf(page)[0]?.state.kind).toBe("delivered");
    expect(story(page)).toEqual(["turn-1 running"]);
  });

  test("gets a turn of its own when the expected one was given up", () => {
    const given = aSettledTurn({ messageId: messageId() });
    const late = aMessageIn({ kind: "unconfirmed", delivery: aDelivery() });
    const page = tell({ turns: [given], sent: [late] }, anEvidence(submitted("hello")));
    expect(story(page)).toEqual(["new running"]);
    expect(messagesOf(page)[0]?.state).toMatchObject({ delivery: { turnId: turnsOf(page)[0]?.turnId } });
    expect(turnsOf(page)[0]).toMatchObject({ messageId: "message-1", origin: "user_prompt" });
  });

  test("is the one on its way before an older one of the same text", () => {
    const older = aMessageIn(
      { kind: "unconfirmed", delivery: aDelivery({ turnId: null }) },
      { id: "message-0" },
    );
    const page = tell({ turns: [expected], sent: [older, onItsWay] }, anEvidence(submitted("hello")));
    expect(messagesOf(page).map(({ id }) => id)).toEqual(["message-1"]);
  });

  test("of another launch is not its receipt", () => {
    const before = aMessageIn({
      kind: "delivering",
      delivery: aDelivery({ launchId: launchId("launch-0") }),
    });
    const page = tell({ sent: [before] }, anEvidence(submitted("hello")));
    expect(messagesOf(page)[0]?.state.kind).toBe("unconfirmed");
    expect(story(page)).toEqual(["new running"]);
  });
});

describe("what a launch was started with", () => {
  const opening = aMessageIn({ kind: "delivering", delivery: aDelivery() }, { channel: "launch" });

  test.each([
    ["as it is", "hello"],
    ["with rules after it", "hello\n\nBe kind."],
    ["untold", null],
  ])("is confirmed by a prompt %s", (_how, text) => {
    const page = tell({ turns: [expected], sent: [opening] }, anEvidence(submitted(text)));
    expect(messagesOf(page)[0]?.state.kind).toBe("delivered");
  });

  test("is not confirmed by another prompt", () => {
    const unconfirmed = aMessageIn({ kind: "unconfirmed", delivery: aDelivery() }, { channel: "launch" });
    const page = tell({ turns: [expected], sent: [unconfirmed] }, anEvidence(submitted("something else")));
    expect(messagesOf(page)).toEqual([]);
    expect(story(page)).toEqual(["turn-1 failed", "new running"]);
  });
});

describe("a prompt that nobody sent through ao", () => {
  test("begins a turn of its own", () => {
    const page = tell({}, anEvidence(submitted("typed by hand")));
    expect(turnsOf(page)).toMatchObject([
      {
        origin: "user_prompt",
        messageId: null,
        sequence: 1,
        state: { kind: "running" },
        startedAtMs: LATER_MS,
      },
    ]);
  });

  test("is the agent's own when it says so", () => {
    const page = tell({}, anEvidence({ kind: "submitted", text: "a task is done", byAgent: true }));
    expect(turnsOf(page)[0]?.origin).toBe("agent_initiated");
  });

  test("ends a turn whose end nobody heard of", () => {
    const page = tell({ turns: [aTurn()] }, anEvidence(submitted("next")));
    expect(story(page)).toEqual(["turn-1 interrupted", "new running"]);
    expect(turnsOf(page)[0]?.error?.code).toBe("end_not_seen");
  });

  test("leaves its place to a message that is just on its way", () => {
    const page = tell({ turns: [expected], sent: [onItsWay] }, anEvidence(submitted("typed by hand")));
    expect(page.changes).toEqual([]);
  });

  test("runs the turn that was expected when the agent never tells a text", () => {
    const page = tell({ turns: [expected], sent: [onItsWay] }, anEvidence(submitted(null)));
    expect(story(page)).toEqual(["turn-1 running"]);
    expect(messagesOf(page)).toEqual([]);
  });
});

describe("an answer", () => {
  const waiting = aTurnIn({ kind: "waiting" });
  const answer = aMessageIn({ kind: "delivering", delivery: aDelivery() });

  test("goes on with the turn that waited for it, and is the receipt of its message", () => {
    const page = tell({ turns: [waiting], sent: [answer] }, anEvidence({ kind: "answered", text: "hello" }));
    expect(story(page)).toEqual(["turn-1 running"]);
    expect(messagesOf(page)[0]?.state).toMatchObject({ kind: "delivered", delivery: { turnId: "turn-1" } });
  });

  test("that came as a prompt does the same", () => {
    const page = tell({ turns: [waiting], sent: [answer] }, anEvidence(submitted("hello")));
    expect(story(page)).toEqual(["turn-1 running"]);
    expect(messagesOf(page)[0]?.state.kind).toBe("delivered");
  });

  test("without a turn to answer in begins one", () => {
    expect(story(tell({}, anEvidence({ kind: "answered", text: "yes" })))).toEqual(["new running"]);
  });
});

describe("what the agent does", () => {
  const does = (activity: TurnEvidence["activity"]) => anEvidence(null, { activity });

  test("lets a turn wait and go on", () => {
    const page = tell({ turns: [aTurn()] }, does("waiting_input"), does("waiting_input"), does("active"));
    expect(story(page)).toEqual(["turn-1 waiting", "turn-1 running"]);
  });

  test("begins and ends none", () => {
    expect(tell({}, does("active")).changes).toEqual([]);
    expect(tell({ turns: [aTurn()] }, does("ready"), does("idle"), does("exited")).changes).toEqual([]);
  });
});

describe("an end", () => {
  const error = { code: "api_error", message: "overloaded" };

  test.each<[string, TurnSignal, object]>([
    ["a stop", STOPPED, { state: { kind: "settled", outcome: "completed", atMs: LATER_MS }, error: null }],
    ["an error", { kind: "failed", ...error }, { state: { outcome: "failed" }, error }],
    ["an interruption", { kind: "interrupted" }, { state: { outcome: "interrupted" } }],
  ])("by %s settles the turn", (_how, signal, expectedTurn) => {
    const page = tell({ turns: [aTurn()] }, anEvidence(signal));
    expect(turnsOf(page)).toMatchObject([expectedTurn]);
    expect(page.book.live).toBeUndefined();
  });

  test("by an interruption that was asked for is a cancellation", () => {
    const page = tell(
      { turns: [aTurn()], context: { isCancelling: (id) => id === "turn-1" } },
      anEvidence({ kind: "interrupted" }),
    );
    expect(story(page)).toEqual(["turn-1 canceled"]);
  });

  test("without a turn says nothing, nor of one that was not taken up yet", () => {
    expect(tell({}, anEvidence(STOPPED)).changes).toEqual([]);
    expect(tell({ turns: [expected], sent: [onItsWay] }, anEvidence(STOPPED)).changes).toEqual([]);
  });

  test("and the next beginning of one moment are two turns", () => {
    const page = tell({ turns: [aTurn()] }, anEvidence(STOPPED), anEvidence(submitted("next")));
    expect(story(page)).toEqual(["turn-1 completed", "new running"]);
    expect(page.book.newest?.sequence).toBe(2);
  });
});

describe("an agent that is proven gone", () => {
  const everything = { nowMs: LATER_MS, isGone: () => true };

  test("leaves its turn interrupted and its message unconfirmed", () => {
    const page = endTurns(openPage(aBook([expected], [onItsWay])), context([expected]), everything);
    expect(story(page)).toEqual(["turn-1 interrupted"]);
    expect(messagesOf(page)[0]?.state.kind).toBe("unconfirmed");
  });

  test("leaves a turn that is being cancelled to that", () => {
    const page = endTurns(openPage(aBook([aTurn()])), context([], { isCancelling: () => true }), everything);
    expect(page.changes).toEqual([]);
  });

  test("is ended for by the first word of the next launch", () => {
    const old = aTurn({ launchId: "launch-0" });
    const page = tell({ turns: [old] }, anEvidence(submitted("hello again")));
    expect(story(page)).toEqual(["turn-1 interrupted", "new running"]);
    expect(turnsOf(page)[0]?.error).toBeNull();
  });
});

describe("a turn that has to make room", () => {
  test("is interrupted when its agent had taken it up, else failed as never confirmed", () => {
    const unconfirmed = aMessageIn({ kind: "unconfirmed", delivery: aDelivery() });
    const running = supersede(openPage(aBook([aTurn()])), context(), LATER_MS);
    expect(story(running)).toEqual(["turn-1 interrupted"]);
    const never = supersede(openPage(aBook([expected], [unconfirmed])), context([expected]), LATER_MS);
    expect(turnsOf(never)).toMatchObject([
      { state: { outcome: "failed" }, error: { code: "delivery_unconfirmed" } },
    ]);
  });
});

describe("an event of a session that is over", () => {
  const late = { isNext: false };

  test("still settles its turn, when it is not older", () => {
    expect(story(tell({ turns: [aTurn()] }, anEvidence(STOPPED, late)))).toEqual(["turn-1 completed"]);
    const older = anEvidence(STOPPED, { ...late, atMs: T0_MS - 1 });
    expect(tell({ turns: [aTurn()] }, older).changes).toEqual([]);
  });

  test("read again changes nothing", () => {
    const told = [anEvidence(submitted("hello"), late), anEvidence(STOPPED, { ...late, atMs: LATER_MS + 1 })];
    const page = tell({ turns: [expected], sent: [onItsWay] }, ...told);
    const turns = turnsOf(page).slice(-1);
    expect(story(page)).toEqual(["turn-1 running", "turn-1 completed"]);
    expect(tell({ turns, sent: [] }, ...told).changes).toEqual([]);
  });
});

test("whatever is told in whatever order, one turn at most goes on, and no message is confirmed twice", () => {
  const anySignal: fc.Arbitrary<TurnSignal | null> = fc.oneof(
    fc.constantFrom<TurnSignal | null>(
      null,
      STOPPED,
      { kind: "interrupted" },
      { kind: "failed", code: "x", message: "y" },
    ),
    fc.record({
      kind: fc.constantFrom("submitted" as const, "answered" as const),
      text: fc.constantFrom("hello", "other", null),
    }),
  );
  const anyEvidence = fc.record({
    signal: anySignal,
    activity: fc.constantFrom(null, "active" as const, "waiting_input" as const, "ready" as const),
    atMs: fc.integer({ min: T0_MS - 5, max: T0_MS + 50 }),
    isNext: fc.boolean(),
    launchId: fc.constantFrom(launchId("launch-1"), launchId("launch-2")),
  });
  fc.assert(
    fc.property(fc.array(anyEvidence, { maxLength: 12 }), (told) => {
      const page = tell(
        { turns: [expected], sent: [onItsWay] },
        ...told.map((one) => anEvidence(one.signal, one)),
      );
      const last = new Map(turnsOf(page).map((turn) => [turn.turnId, turn]));
      expect([...last.values()].filter(isLiveTurn).length).toBeLessThanOrEqual(1);
      expect(page.book.sent.every(isSent)).toBe(true);
      const confirmed = messagesOf(page).filter(({ state }) => state.kind === "delivered");
      expect(confirmed.length).toBeLessThanOrEqual(1);
    }),
  );
});
