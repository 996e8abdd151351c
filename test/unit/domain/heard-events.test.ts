import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Ask } from "../../../src/domain/facts.ts";
import {
  afterHearing as afterHearingAt,
  type HeardEvent,
  type HeardEvents,
  isNewEvent as isNewEventAt,
} from "../../../src/domain/heard-events.ts";
import { launchId, T0_MS } from "../../support/builders.ts";

const LAUNCH = launchId("launch-1");

function anEvent(id: string, overrides: Partial<HeardEvent> = {}): HeardEvent {
  return { id, launchId: LAUNCH, atMs: T0_MS, readAtMs: T0_MS + 1000, ...overrides };
}

/** Judged at the moment of the reading. */
const isNewEvent = (heard: HeardEvents | null, event: HeardEvent) =>
  isNewEventAt(heard, event, event.readAtMs);
const afterHearing = (heard: HeardEvents | null, event: HeardEvent, asks: Ask | null | undefined) =>
  afterHearingAt(heard, event, { asks, nowMs: event.readAtMs });

function hear(heard: HeardEvents | null, ...events: readonly HeardEvent[]): HeardEvents | null {
  return events.reduce(
    (sofar, event) => (isNewEvent(sofar, event) ? afterHearing(sofar, event, null) : sofar),
    heard,
  );
}

describe("an event is news", () => {
  const heard = hear(null, anEvent("b"));

  test.each<[string, HeardEvent, boolean]>([
    ["not a second time", anEvent("b"), false],
    ["not a second time, read later", anEvent("b", { readAtMs: T0_MS + 9000 }), false],
    ["when another is of the same moment, whatever its id", anEvent("a"), true],
    ["when it is later", anEvent("c", { atMs: T0_MS + 1 }), true],
    ["not when it is earlier and comes late", anEvent("c", { atMs: T0_MS - 1 }), false],
    ["when another launch sent it", anEvent("b", { launchId: launchId("launch-2"), atMs: 1 }), true],
    ["not when its reader stood before the last that counted", anEvent("c", { readAtMs: T0_MS - 1 }), false],
  ])("%s", (_name, event, isNew) => {
    expect(isNewEvent(null, event)).toBe(true);
    expect(isNewEvent(heard, event)).toBe(isNew);
  });

  test("though an earlier one had a time far ahead, which stays old news", () => {
    const ahead = anEvent("ahead", { atMs: T0_MS + 1e9, readAtMs: T0_MS });
    const later = [1, 2, 3].map((index) => anEvent(`e${index}`, { atMs: T0_MS + index }));
    const now = hear(null, ahead, ...later);
    expect(now).toMatchObject({ atMs: T0_MS + 3, events: [{ id: "ahead" }, { id: "e3" }] });
    expect(isNewEvent(now, { ...ahead, readAtMs: T0_MS + 5000 })).toBe(false);
  });
});

describe("after the clock was set back by an hour", () => {
  const HOUR_MS = 3_600_000;
  const SET_BACK_MS = T0_MS - HOUR_MS;
  /** Heard before, in this order: the last two wait to be read again. */
  const before = [-90_000, -20_000, 0].map((ms) =>
    anEvent(`before${ms}`, { atMs: T0_MS + ms, readAtMs: T0_MS + ms }),
  );
  const heard = hear(null, ...before);
  const after = [1000, 2000].map((ms) =>
    anEvent(`after${ms}`, { atMs: SET_BACK_MS + ms, readAtMs: SET_BACK_MS + 5000 }),
  );

  test("what comes is news, each once", () => {
    expect(after.map((event) => isNewEvent(heard, event))).toEqual([true, true]);
    const now = hear(heard, ...after);
    expect(now).toMatchObject({ atMs: SET_BACK_MS + 2000 });
    expect(after.map((event) => isNewEvent(now, event))).toEqual([false, false]);
  });

  test("what had counted is no news, whenever it is read again", () => {
    const read = (readAtMs: number) => before.slice(1).map((event) => ({ ...event, readAtMs }));
    const now = hear(heard, ...after);
    for (const again of [...read(SET_BACK_MS + 1000), ...read(SET_BACK_MS + 5000), ...read(T0_MS - 30_000)]) {
      expect([isNewEvent(heard, again), isNewEvent(now, again)]).toEqual([false, false]);
    }
  });

  test("what an agent says that keeps to the old time is news, each once", () => {
    const kept = [1, 2].map((number) => anEvent(`kept${number}`, { readAtMs: SET_BACK_MS + number }));
    const now = hear(hear(heard, ...after.slice(0, 1)), {
      ...(kept[0] ?? anEvent("")),
      readAtMs: SET_BACK_MS + 9000,
    });
    expect(now?.events.map(({ id }) => id)).toContain("kept1");
    expect(kept.map((event) => isNewEvent(now, { ...event, readAtMs: SET_BACK_MS + 9000 }))).toEqual([
      false,
      true,
    ]);
  });

  test("that is forgotten once it stands again where it stood", () => {
    const now = hear(heard, ...after);
    expect(now).toHaveProperty("setBackFromMs", T0_MS);
    expect(hear(now, anEvent("later", { atMs: T0_MS + 1, readAtMs: T0_MS + 1 }))).not.toHaveProperty(
      "setBackFromMs",
    );
  });

  test("a reader that only stood still for long does not count anything again", () => {
    const [late] = before;
    const old = { ...(late ?? anEvent("")), readAtMs: T0_MS - 90_000 };
    expect(isNewEventAt(heard, old, T0_MS + 1000)).toBe(false);
  });
});

describe("what is remembered", () => {
  test("is no more than what time cannot tell, and nothing of another launch", () => {
    const heard = hear(null, anEvent("a"), anEvent("b"), anEvent("c", { atMs: T0_MS + 1 }));
    expect(heard).toEqual({
      launchId: LAUNCH,
      atMs: T0_MS + 1,
      events: [{ id: "c", atMs: T0_MS + 1 }],
      asks: null,
    });
    const next = anEvent("d", { launchId: launchId("launch-2"), atMs: 1 });
    expect(hear(heard, next)).toMatchObject({ launchId: "launch-2", atMs: 1, events: [{ id: "d" }] });
  });

  test("is what the agent asks for, until an event tells something else of its doing", () => {
    const asked = afterHearing(null, anEvent("a"), "permission");
    expect(afterHearing(asked, anEvent("b"), undefined).asks).toBe("permission");
    expect(afterHearing(asked, anEvent("b"), null).asks).toBeNull();
    const ofNext = anEvent("b", { launchId: launchId("launch-2") });
    expect(afterHearing(asked, ofNext, undefined).asks).toBeNull();
  });
});

test("an event counts at most once, however often, in what order and at what time it is read", () => {
  const step = fc.record({
    id: fc.integer({ min: 0, max: 9 }),
    readAtMs: fc.integer({ min: 0, max: 40 }).map((ms) => T0_MS + ms),
  });
  const times = fc.array(
    fc.integer({ min: -10, max: 60 }).map((ms) => T0_MS + ms),
    { minLength: 10, maxLength: 10 },
  );
  fc.assert(
    fc.property(times, fc.array(step, { maxLength: 60 }), (ownTimes, steps) => {
      const counted: string[] = [];
      let heard: HeardEvents | null = null;
      for (const { id, readAtMs } of steps) {
        const event = anEvent(`e${id}`, { atMs: ownTimes[id] ?? T0_MS, readAtMs });
        if (!isNewEvent(heard, event)) continue;
        counted.push(event.id);
        heard = afterHearing(heard, event, null);
      }
      expect(new Set(counted).size).toBe(counted.length);
    }),
  );
});

test("in the order of time none is missed", () => {
  const gaps = fc.array(fc.integer({ min: 0, max: 2 }), { maxLength: 20 });
  fc.assert(
    fc.property(gaps, (gapsMs) => {
      let heard: HeardEvents | null = null;
      let atMs = T0_MS;
      for (const [index, gapMs] of gapsMs.entries()) {
        atMs += gapMs;
        // Ids tell nothing of the order: two hooks of one moment are two processes.
        const event = anEvent(`${index % 2}-${100 - index}`, { atMs, readAtMs: atMs });
        expect(isNewEvent(heard, event)).toBe(true);
        heard = afterHearing(heard, event, null);
      }
    }),
  );
});
