import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { HookEvent } from "../../src/domain/facts.ts";
import type { LaunchId } from "../../src/domain/ids.ts";
import type { Inbox } from "../../src/ports/inbox.ts";

const T0 = 1_700_000_000_000;

export function anEvent(patch: Partial<Omit<HookEvent, "id">> = {}): Omit<HookEvent, "id"> {
  return {
    sessionId: "app-7",
    launchId: "launch-1",
    agent: "claude-code",
    event: "Stop",
    atMs: T0,
    body: '{"a":1}\n',
    ...patch,
  };
}

const bodiesOf = (events: readonly HookEvent[]) => events.map(({ body }) => body);

/** What every `Inbox` owes its callers. `open` gives an empty one. */
export function inboxContract(name: string, open: () => Inbox): void {
  describe(`${name} is an Inbox`, () => {
    test("a new inbox holds nothing", async () => {
      expect(await open().pending()).toEqual([]);
    });

    test("an event comes back as it was put, under an id that stays", async () => {
      const inbox = open();
      await inbox.put(anEvent());
      const first = await inbox.pending();
      expect(first).toEqual([{ ...anEvent(), id: expect.any(String) }]);
      expect(await inbox.pending()).toEqual(first);
    });

    test.each([
      ["nothing", ""],
      ["lines that look like headers", "\n\nao-hook 1\nsession other-1\n\n"],
      ["NUL and control characters", "a\0b\x1b[31m\r\n\x7f"],
      ["letters of many scripts", "Grüße 日本語 🙂 \u2028"],
      ["exactly 8 MiB", "x".repeat(8 * 1024 * 1024)],
    ])("a body of %s comes back unchanged", async (_what, body) => {
      const inbox = open();
      await inbox.put(anEvent({ body }));
      expect(bodiesOf(await inbox.pending())).toEqual([body]);
    });

    test("any well-formed text comes back as it was put", async () => {
      await fc.assert(
        fc.asyncProperty(fc.string({ unit: "binary", maxLength: 200 }), async (body) => {
          const inbox = open();
          await inbox.put(anEvent({ body }));
          const events = await inbox.pending();
          expect(bodiesOf(events)).toEqual([body]);
          await inbox.remove(events.map(({ id }) => id));
        }),
        { numRuns: 50 },
      );
    });

    test("older events come first, whatever the order they were put in", async () => {
      const inbox = open();
      await inbox.put(anEvent({ atMs: T0 + 5, body: "late" }));
      await inbox.put(anEvent({ atMs: T0 - 5, body: "early" }));
      await inbox.put(anEvent({ body: "middle" }));
      expect(bodiesOf(await inbox.pending())).toEqual(["early", "middle", "late"]);
    });

    test("events of one time come in the order they were put", async () => {
      const inbox = open();
      const bodies = Array.from({ length: 50 }, (_, index) => String(index));
      for (const body of bodies) await inbox.put(anEvent({ body }));
      expect(bodiesOf(await inbox.pending())).toEqual(bodies);
    });

    test("of one launch only its own events wait, oldest first", async () => {
      const inbox = open();
      const [own, other] = ["app-1", "app-1-2"] as [LaunchId, LaunchId];
      await inbox.put(anEvent({ launchId: own, atMs: T0 + 5, body: "late" }));
      await inbox.put(anEvent({ launchId: other, body: "of another" }));
      await inbox.put(anEvent({ launchId: own, body: "early" }));
      expect(bodiesOf(await inbox.pending(own))).toEqual(["early", "late"]);
      expect(bodiesOf(await inbox.pending(other))).toEqual(["of another"]);
      expect(await inbox.pending("app" as LaunchId)).toEqual([]);
      expect(await inbox.pending()).toHaveLength(3);
    });

    test("the same event put twice is two events", async () => {
      const inbox = open();
      await inbox.put(anEvent());
      await inbox.put(anEvent());
      expect(new Set((await inbox.pending()).map(({ id }) => id)).size).toBe(2);
    });

    test("a removed event is gone and the others stay", async () => {
      const inbox = open();
      for (const body of ["one", "two", "three"]) await inbox.put(anEvent({ body }));
      const [, second] = await inbox.pending();
      await inbox.remove([second?.id ?? ""]);
      expect(bodiesOf(await inbox.pending())).toEqual(["one", "three"]);
    });

    test("removing again, or what never was, changes nothing", async () => {
      const inbox = open();
      await inbox.put(anEvent({ body: "kept" }));
      await inbox.put(anEvent({ body: "gone" }));
      const [, gone] = await inbox.pending();
      const ids = [gone?.id ?? "", "nosuch", "", ".", "..", "../new", "a\0b", "x".repeat(300)];
      await inbox.remove(ids);
      await inbox.remove(ids);
      expect(bodiesOf(await inbox.pending())).toEqual(["kept"]);
    });

    test("what was set aside waits no more, once is as good as twice, and a tidy counts it", async () => {
      const inbox = open();
      await inbox.put(anEvent({ body: "kept" }));
      await inbox.put(anEvent({ body: "late" }));
      const [, late] = await inbox.pending();
      const ids = [late?.id ?? "", "nosuch", "", ".", "..", "a\0b", "x".repeat(300)];
      await inbox.setAside(ids);
      await inbox.setAside(ids);
      expect(bodiesOf(await inbox.pending())).toEqual(["kept"]);
      expect(await inbox.countAside()).toBe(1);
      expect(await inbox.tidy(Date.now())).toBe(1);
      expect(await inbox.tidy(Date.now())).toBe(1);
      expect(bodiesOf(await inbox.pending())).toEqual(["kept"]);
    });

    test("a tidy of an inbox that holds only events changes nothing", async () => {
      const inbox = open();
      expect(await inbox.countAside()).toBe(0);
      expect(await inbox.tidy(Date.now())).toBe(0);
      await inbox.put(anEvent());
      expect(await inbox.tidy(Date.now())).toBe(0);
      expect(await inbox.pending()).toHaveLength(1);
    });

    test.each<[string, Partial<HookEvent>]>([
      ["a session id that is none", { sessionId: "../x" }],
      ["an empty launch id", { launchId: "" }],
      ["a second session behind the agent's name", { agent: "claude\nsession other-1" }],
      ["a new header behind the agent's name", { agent: "claude\nnote x" }],
      ["an empty event name", { event: "" }],
      ["an event name with a space", { event: "Stop now" }],
      ["an event name with a terminal sequence", { event: "\x1b[31mStop" }],
      ["a time with a fraction", { atMs: 1.5 }],
      ["a negative time", { atMs: -1 }],
      ["a time that is no number", { atMs: Number.NaN }],
      ["a body over 8 MiB", { body: "x".repeat(8 * 1024 * 1024 + 1) }],
    ])("%s is refused and nothing is left", async (_what, patch) => {
      const inbox = open();
      await expect(inbox.put(anEvent(patch))).rejects.toMatchObject({ code: "usage" });
      expect(await inbox.pending()).toEqual([]);
    });
  });
}
