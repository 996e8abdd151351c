import { describe, expect, test } from "vitest";
import { memoryInbox } from "../../../../src/adapters/memory/inbox.ts";
import { awaitReceipt, eventsSoFar, type ReceiptDeps } from "../../../../src/adapters/tmux/receipt.ts";
import { AoError } from "../../../../src/domain/errors.ts";
import type { HookEvent } from "../../../../src/domain/facts.ts";
import type { MessageTarget } from "../../../../src/ports/messenger.ts";
import { aProcess, aRuntimeHandle, launchId, sessionId } from "../../../support/builders.ts";

const target: MessageTarget = {
  sessionId: sessionId("app-1"),
  launchId: launchId("launch-1"),
  handle: aRuntimeHandle(),
  process: aProcess(),
  receipts: true,
  bracketedPaste: true,
};

const anEvent = (patch: Partial<HookEvent> = {}): Omit<HookEvent, "id"> => ({
  sessionId: "app-1",
  launchId: "launch-1",
  agent: "stub",
  event: "submit",
  atMs: 0,
  body: "hello",
  ...patch,
});

/** Events come in while the wait goes on: one after each sleep. */
function listen(coming: readonly Omit<HookEvent, "id">[]) {
  const inbox = memoryInbox();
  const queue = [...coming];
  let sleptMs = 0;
  const deps: ReceiptDeps = {
    inbox,
    clock: {
      async sleep(ms) {
        sleptMs += ms;
        const next = queue.shift();
        if (next !== undefined) await inbox.put(next);
      },
    },
    submittedText: ({ event, body }) => (event === "submit" ? body : null),
  };
  return { inbox, deps, sleptMs: () => sleptMs };
}

describe("awaitReceipt", () => {
  test.each<[string, readonly Omit<HookEvent, "id">[], string, boolean]>([
    ["the text itself", [anEvent()], "hello", true],
    [
      "the text behind other events",
      [anEvent({ event: "Stop" }), anEvent({ body: "hi" }), anEvent()],
      "hello",
      true,
    ],
    ["the text with white space behind it", [anEvent({ body: "hello \n" })], "hello", true],
    ["the text without the white space behind it", [anEvent()], "hello  ", true],
    ["a text of several lines", [anEvent({ body: "a\n\nb" })], "a\n\nb", true],
    ["nothing", [], "hello", false],
    ["another text", [anEvent({ body: "hello you" })], "hello", false],
    ["white space before it", [anEvent({ body: " hello" })], "hello", false],
    ["the text to another session", [anEvent({ sessionId: "app-2" })], "hello", false],
    ["the text to an older launch", [anEvent({ launchId: "launch-0" })], "hello", false],
    ["an event that tells of no text", [anEvent({ event: "Stop" })], "hello", false],
  ])("an agent that tells %s", async (_what, coming, text, expected) => {
    const { deps } = listen(coming);
    expect(await awaitReceipt(deps, { target, text, before: new Set(), timeoutMs: 1000 })).toBe(expected);
  });

  test("a receipt that was there before is of an earlier message", async () => {
    const { inbox, deps } = listen([]);
    await inbox.put(anEvent());
    const before = await eventsSoFar(deps);
    expect(await awaitReceipt(deps, { target, text: "hello", before, timeoutMs: 500 })).toBe(false);
  });

  test("it waits as long as it was told, and not at all for 0", async () => {
    const { deps, sleptMs } = listen([]);
    await awaitReceipt(deps, { target, text: "hello", before: new Set(), timeoutMs: 0 });
    expect(sleptMs()).toBe(0);
    await awaitReceipt(deps, { target, text: "hello", before: new Set(), timeoutMs: 1000 });
    expect(sleptMs()).toBe(1000);
  });

  test("an inbox that cannot be read gives no receipt and no error, for the text was typed", async () => {
    const { deps } = listen([]);
    const pending = () => Promise.reject(new AoError("data_dir_unusable", "no inbox"));
    const blind = { ...deps, inbox: { pending } };
    expect(await awaitReceipt(blind, { target, text: "hello", before: new Set(), timeoutMs: 100 })).toBe(
      false,
    );
  });
});
