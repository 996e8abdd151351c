import { describe, expect, test } from "vitest";
import type { MessageTarget, Messenger } from "../../src/ports/messenger.ts";

/** How the agent of a target takes messages. */
export type Listener = "answers" | "deaf" | "refuses" | "gone";

/** A messenger with an agent to talk to. */
export interface MessengerWorld {
  readonly messenger: Messenger;
  /** An agent of its own; it gives receipts unless told otherwise, and takes a paste as text when told so. */
  agent(
    listener: Listener,
    options?: Partial<Pick<MessageTarget, "receipts" | "bracketedPaste">>,
  ): Promise<MessageTarget>;
  /** The messages that were submitted to it so far, in order. */
  heard(target: MessageTarget): readonly string[];
  /** How often it was given the key Escape so far. */
  escapes(target: MessageTarget): number;
}

/** Long enough for a receipt on a busy machine; short where none will come. */
const PATIENT_MS = 10_000;
const SHORT_MS = 100;

/** What every `Messenger` owes its callers. `open` gives one that has sent nothing. */
export function messengerContract(name: string, open: () => MessengerWorld): void {
  describe(`${name} is a Messenger`, () => {
    test("a message that the agent confirms is delivered", async () => {
      const world = open();
      const target = await world.agent("answers");
      expect(await world.messenger.send(target, "hello", PATIENT_MS)).toEqual({ state: "delivered" });
      expect(world.heard(target)).toEqual(["hello"]);
    });

    test("a message that nobody confirms is unconfirmed, though it was typed", async () => {
      const world = open();
      const target = await world.agent("deaf");
      expect(await world.messenger.send(target, "hello", SHORT_MS)).toEqual({ state: "unconfirmed" });
      await expect.poll(() => world.heard(target)).toEqual(["hello"]);
    });

    test("an agent without receipts is not waited for", async () => {
      const world = open();
      const target = await world.agent("answers", { receipts: false });
      const startedMs = performance.now();
      expect(await world.messenger.send(target, "hello", 60_000)).toEqual({ state: "unconfirmed" });
      expect(performance.now() - startedMs).toBeLessThan(20_000);
      await expect.poll(() => world.heard(target)).toEqual(["hello"]);
    });

    test("the same text sent twice is submitted twice, and each is confirmed by its own receipt", async () => {
      const world = open();
      const target = await world.agent("answers");
      for (let time = 0; time < 2; time++) {
        expect(await world.messenger.send(target, "again", PATIENT_MS)).toEqual({ state: "delivered" });
      }
      expect(world.heard(target)).toEqual(["again", "again"]);
    });

    test("an agent that is gone gets nothing", async () => {
      const world = open();
      const target = await world.agent("gone");
      await expect(world.messenger.send(target, "hello", SHORT_MS)).rejects.toMatchObject({
        code: "not_running",
      });
    });

    test("a terminal that takes no input is an error, and nothing is submitted", async () => {
      const world = open();
      const target = await world.agent("refuses");
      await expect(world.messenger.send(target, "hello", SHORT_MS)).rejects.toMatchObject({
        code: "delivery_failed",
      });
      expect(world.heard(target)).toEqual([]);
    });

    test.each([
      ["^C", "a\x03b"],
      ["^D", "\x04"],
      ["^Z", "\x1a"],
      ["^\\", "\x1c"],
      ["a backspace", "x\b"],
      ["an escape", "\x1b[A"],
      ["a delete", "\x7f"],
      ["a carriage return inside", "a\r\nb"],
    ])("%s is refused where it would be a key, and is text in a bracketed paste", async (_what, text) => {
      const world = open();
      const [typist, reader] = [
        await world.agent("deaf"),
        await world.agent("deaf", { receipts: false, bracketedPaste: true }),
      ];
      await expect(world.messenger.send(typist, text, SHORT_MS)).rejects.toMatchObject({
        code: "message_unsafe",
        hint: expect.any(String),
      });
      await world.messenger.send(reader, text, SHORT_MS);
      await expect.poll(() => world.heard(reader)).toEqual([text]);
      await world.messenger.send(typist, "tab\t, line\nand é\u009b", SHORT_MS);
      await expect.poll(() => world.heard(typist)).toEqual(["tab\t, line\nand é\u009b"]);
    });

    test("a message goes to its own agent only", async () => {
      const world = open();
      const [one, other] = [await world.agent("answers"), await world.agent("answers")];
      await world.messenger.send(one, "for one", PATIENT_MS);
      await world.messenger.send(other, "for the other", PATIENT_MS);
      expect(world.heard(one)).toEqual(["for one"]);
      expect(world.heard(other)).toEqual(["for the other"]);
    });

    test("a key that is pressed reaches the agent, and submits nothing", async () => {
      const world = open();
      const [target, other] = [await world.agent("answers"), await world.agent("answers")];
      expect(await world.messenger.press(target, ["Escape", "Escape"])).toEqual({ kind: "pressed" });
      await expect.poll(() => world.escapes(target)).toBe(2);
      expect(world.heard(target)).toEqual([]);
      expect(world.escapes(other)).toBe(0);
    });

    test("no key reaches an agent that is gone", async () => {
      const world = open();
      const target = await world.agent("gone");
      await expect(world.messenger.press(target, ["Escape"])).rejects.toMatchObject({ code: "not_running" });
    });

    test("no key reaches a terminal that takes no input", async () => {
      const world = open();
      const target = await world.agent("refuses");
      await expect(world.messenger.press(target, ["Escape"])).rejects.toMatchObject({
        code: "delivery_failed",
      });
      expect(world.escapes(target)).toBe(0);
    });
  });
}
