import { describe, expect, onTestFinished, test } from "vitest";
import type { Message, MessageState } from "../../src/domain/message.ts";
import type { Store } from "../../src/ports/store.ts";
import { aSession, launchId, sessionId, T0_MS } from "../support/builders.ts";
import { aDelivery, aMessage, aMessageIn } from "../support/messages.ts";

type Fresh = () => Store;

const SESSION = sessionId("app-1");
const delivery = aDelivery();

const numbersOf = (messages: readonly Message[]) => messages.map(({ number }) => number);

/** The n-th message of a session, in a state. */
function numbered(number: number, state: MessageState = { kind: "queued" }, session = "app-1"): Message {
  return aMessageIn<MessageState>(state, { id: `${session}-message-${number}`, sessionId: session, number });
}

function rowTests(fresh: Fresh): void {
  test("an unknown message is undefined", () => {
    const { messages } = fresh();
    expect(messages.get(aMessage().id)).toBeUndefined();
    expect(messages.ofRequest(SESSION, "request-1")).toBeUndefined();
    expect(messages.firstQueued(SESSION)).toBeUndefined();
    expect(messages.lastNumber(SESSION)).toBe(0);
  });

  test.each<[string, Message]>([
    ["a queued one", aMessage()],
    ["one that is on its way", aMessageIn({ kind: "delivering", delivery })],
    ["one that was delivered", aMessageIn({ kind: "delivered", delivery, atMs: T0_MS + 3 })],
    [
      "an unconfirmed one of no turn",
      aMessageIn({ kind: "unconfirmed", delivery: aDelivery({ turnId: null }) }),
    ],
    ["one that failed", aMessageIn({ kind: "failed", error: { code: "delivery_failed", message: "no" } })],
    ["one that was cancelled", aMessageIn({ kind: "cancelled", reason: "its session ended" })],
    ["one that a launch was started with", aMessage({ channel: "launch" })],
    ["one with a name", aMessage({ requestId: "'; DROP TABLE messages; --" })],
    ["hostile text", aMessage({ text: "a\u0000b\u001b[201~\r\n\t🦉\u202e" })],
    ["a megabyte", aMessage({ text: "ä;".repeat(350_000) })],
    ["one with a history", aMessage({ version: 7, updatedAtMs: T0_MS + 9 })],
  ])("%s is read as it was written", (_what, message) => {
    const { messages } = fresh();
    expect(messages.insert(message)).toBe(true);
    expect(messages.get(message.id)).toEqual(message);
  });

  test.each<[string, Message, Message]>([
    ["its id is taken", aMessage(), aMessage({ number: 2 })],
    ["its number is taken", aMessage(), aMessage({ id: "message-2" })],
    [
      "its request id is taken",
      aMessage({ requestId: "request-1" }),
      aMessage({ id: "message-2", number: 2, requestId: "request-1" }),
    ],
    [
      "another one is on its way",
      numbered(1, { kind: "delivering", delivery }),
      numbered(2, { kind: "delivering", delivery }),
    ],
  ])("a message is not inserted when %s, and changes nothing", (_why, first, second) => {
    const { messages } = fresh();
    messages.insert(first);
    expect(messages.insert(second)).toBe(false);
    expect(messages.get(first.id)).toEqual(first);
    expect(messages.lastNumber(SESSION)).toBe(1);
  });

  test("numbers, names and ways are those of one session", () => {
    const { messages } = fresh();
    const ours = aMessageIn({ kind: "delivering", delivery }, { requestId: "request-1" });
    const theirs = { ...ours, id: aMessage({ id: "message-2" }).id, sessionId: sessionId("app-2") };
    expect([messages.insert(ours), messages.insert(theirs)]).toEqual([true, true]);
    expect(messages.ofRequest(SESSION, "request-1")).toEqual(ours);
    expect(messages.ofRequest(sessionId("app-2"), "request-1")).toEqual(theirs);
  });

  test("any number of messages has no name", () => {
    const { messages } = fresh();
    expect([1, 2, 3].map((number) => messages.insert(numbered(number)))).toEqual([true, true, true]);
  });
}

function saveTests(fresh: Fresh): void {
  const next = aMessageIn<MessageState>({ kind: "delivering", delivery }, { version: 2 });

  test("a save that names the stored version replaces the row", () => {
    const { messages } = fresh();
    messages.insert(aMessage());
    expect(messages.save(next, 1)).toBe(true);
    expect(messages.get(next.id)).toEqual(next);
  });

  test("what one state has and the next has not is gone", () => {
    const { messages } = fresh();
    const states: readonly MessageState[] = [
      { kind: "delivering", delivery },
      { kind: "queued" },
      { kind: "delivering", delivery: aDelivery({ launchId: launchId("launch-2") }) },
      { kind: "unconfirmed", delivery },
      { kind: "delivered", delivery, atMs: T0_MS + 1 },
    ];
    messages.insert(aMessage());
    states.forEach((state, index) => {
      const message = aMessageIn<MessageState>(state, { version: index + 2 });
      expect(messages.save(message, index + 1)).toBe(true);
      expect(messages.get(message.id)).toEqual(message);
    });
  });

  test.each([0, 2])("a save that names version %i of a row at 1 changes nothing", (version) => {
    const { messages } = fresh();
    messages.insert(aMessage());
    expect(messages.save({ ...next, version: version + 1 }, version)).toBe(false);
    expect(messages.get(next.id)).toEqual(aMessage());
  });

  test("a save of a message that is not there adds none", () => {
    const { messages } = fresh();
    expect(messages.save(next, 1)).toBe(false);
    expect(messages.get(next.id)).toBeUndefined();
  });

  test("of two messages of a session the second does not set out while the first is on its way", () => {
    const { messages } = fresh();
    for (const number of [1, 2]) messages.insert(numbered(number));
    const way: MessageState = { kind: "delivering", delivery };
    expect(messages.save({ ...numbered(1, way), version: 2 }, 1)).toBe(true);
    expect(messages.save({ ...numbered(2, way), version: 2 }, 1)).toBe(false);
    expect(messages.get(numbered(2).id)).toEqual(numbered(2));
  });
}

function queueTests(fresh: Fresh): void {
  const filled = () => {
    const { messages } = fresh();
    const states: readonly MessageState[] = [
      { kind: "delivered", delivery, atMs: T0_MS },
      { kind: "unconfirmed", delivery },
      { kind: "failed", error: { code: "x", message: "y" } },
      { kind: "delivering", delivery },
      { kind: "queued" },
      { kind: "cancelled", reason: "z" },
      { kind: "queued" },
    ];
    const rows = states.map((state, index) => numbered(index + 1, state));
    for (const row of rows.toReversed()) messages.insert(row);
    messages.insert(numbered(1, { kind: "queued" }, "app-2"));
    messages.insert(numbered(1, { kind: "delivered", delivery, atMs: T0_MS }, "app-3"));
    messages.insert(numbered(1, { kind: "delivering", delivery }, "app-4"));
    messages.insert(numbered(1, { kind: "unconfirmed", delivery }, "app-5"));
    return messages;
  };

  test("the queue of a session is in the order of numbers", () => {
    const messages = filled();
    expect(numbersOf(messages.queued(SESSION))).toEqual([5, 7]);
    expect(messages.firstQueued(SESSION)?.number).toBe(5);
    expect(messages.lastNumber(SESSION)).toBe(7);
  });

  test("what may have arrived is what is on its way or unconfirmed", () => {
    const messages = filled();
    expect(numbersOf(messages.sent(SESSION))).toEqual([2, 4]);
    expect(messages.sent(sessionId("app-2"))).toEqual([]);
  });

  test("sessions wait that have something queued or on its way", () => {
    expect(filled().sessionsWaiting()).toEqual(["app-1", "app-2", "app-4"]);
  });
}

function transactionTests(fresh: Fresh): void {
  test("a throw undoes what was written here together with the session's row", () => {
    const { sessions, messages } = fresh();
    const problem = new Error("no");
    const attempt = () =>
      sessions.transaction(() => {
        sessions.insert(aSession());
        messages.insert(aMessage());
        throw problem;
      });
    expect(attempt).toThrow(problem);
    expect(sessions.list()).toEqual([]);
    expect(messages.lastNumber(SESSION)).toBe(0);
  });
}

/** What every `MessageStore` owes its callers. `open` makes a store with nothing in it. */
export function messageStoreContract(name: string, open: () => Store): void {
  const fresh = () => {
    const store = open();
    onTestFinished(() => store.close());
    return store;
  };

  describe(`${name} is a MessageStore`, () => {
    rowTests(fresh);
    saveTests(fresh);
    queueTests(fresh);
    transactionTests(fresh);
  });
}
