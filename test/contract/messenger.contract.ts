import { describe, expect, test } from "vitest";
import type { MessageTarget, Messenger } from "../../src/ports/messenger.ts";

/** How the agent of a target takes messages. */
export type Listener = "listens" | "refuses" | "gone";

/** A messenger with an agent to talk to. */
export interface MessengerWorld {
  readonly messenger: Messenger;
  /** An agent of its own; it takes a paste as text when told so. */
  agent(listener: Listener, options?: Partial<Pick<MessageTarget, "bracketedPaste">>): Promise<MessageTarget>;
  /** The messages that were submitted to it so far, in order. */
  heard(target: MessageTarget): readonly string[];
  /** How often it was given the key Escape so far. */
  escapes(target: MessageTarget): number;
}

/** Long enough on a busy machine. */
const PATIENCE = { timeout: 10_000 };

/** What every `Messenger` owes its callers. `open` gives one that has sent nothing. */
export function messengerContract(name: string, open: () => MessengerWorld): void {
  describe(`${name} is a Messenger`, () => {
    test("a message is submitted to the agent, whole and once", async () => {
      const world = open();
      const target = await world.agent("listens");
      expect(await world.messenger.send(target, "hello; -p")).toEqual({ kind: "typed" });
      await expect.poll(() => world.heard(target), PATIENCE).toEqual(["hello; -p"]);
    });

    test("the same text sent twice is submitted twice", async () => {
      const world = open();
      const target = await world.agent("listens");
      for (let time = 0; time < 2; time++) await world.messenger.send(target, "again");
      await expect.poll(() => world.heard(target), PATIENCE).toEqual(["again", "again"]);
    });

    test("an agent that is gone gets nothing", async () => {
      const world = open();
      const target = await world.agent("gone");
      await expect(world.messenger.send(target, "hello")).rejects.toMatchObject({
        code: "not_running",
      });
    });

    test("a terminal that takes no input is an error, and nothing is submitted", async () => {
      const world = open();
      const target = await world.agent("refuses");
      await expect(world.messenger.send(target, "hello")).rejects.toMatchObject({
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
        await world.agent("listens"),
        await world.agent("listens", { bracketedPaste: true }),
      ];
      await expect(world.messenger.send(typist, text)).rejects.toMatchObject({
        code: "message_unsafe",
        hint: expect.any(String),
      });
      await world.messenger.send(reader, text);
      await expect.poll(() => world.heard(reader)).toEqual([text]);
      await world.messenger.send(typist, "tab\t, line\nand é\u009b");
      await expect.poll(() => world.heard(typist)).toEqual(["tab\t, line\nand é\u009b"]);
    });

    test("a message goes to its own agent only", async () => {
      const world = open();
      const [one, other] = [await world.agent("listens"), await world.agent("listens")];
      await world.messenger.send(one, "for one");
      await world.messenger.send(other, "for the other");
      await expect.poll(() => world.heard(one), PATIENCE).toEqual(["for one"]);
      await expect.poll(() => world.heard(other), PATIENCE).toEqual(["for the other"]);
    });

    test("a key that is pressed reaches the agent, and submits nothing", async () => {
      const world = open();
      const [target, other] = [await world.agent("listens"), await world.agent("listens")];
      expect(await world.messenger.press(target, ["Escape", "Escape"])).toEqual({ kind: "typed" });
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
