import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decideDetecting, normalizeEvidence } from "../../../src/domain/decide-detecting.ts";
import type { DetectingMemory } from "../../../src/domain/lifecycle.ts";
import { T0_MS } from "../../support/builders.ts";

const FIVE_MINUTES_MS = 300_000;

function look(memory: DetectingMemory | null, evidenceHash: string, nowMs: number) {
  return decideDetecting({ memory, evidenceHash, nowMs, reason: "runtime_lost" });
}

describe("decideDetecting", () => {
  const memory: DetectingMemory = { attempts: 1, startedAtMs: T0_MS, evidenceHash: "one" };
  const two: DetectingMemory = { ...memory, attempts: 2 };
  const three: DetectingMemory = { ...memory, attempts: 3 };

  test.each<[string, DetectingMemory | null, string, number, DetectingMemory, "detecting" | "stuck"]>([
    ["the first doubtful look begins an episode", null, "one", 0, memory, "detecting"],
    ["the same evidence again is a second attempt", memory, "one", 1_000, two, "detecting"],
    ["the third attempt is stuck", two, "one", 2_000, three, "stuck"],
    ["a further equal look changes nothing", three, "one", 3_000, three, "stuck"],
    [
      "evidence that moved begins to count anew and keeps the start",
      two,
      "other",
      2_000,
      { ...memory, evidenceHash: "other" },
      "detecting",
    ],
    [
      "evidence that moved after the limit is doubt again",
      three,
      "other",
      3_000,
      { ...memory, evidenceHash: "other" },
      "detecting",
    ],
    ["a millisecond before 5 minutes is doubt", memory, "one", FIVE_MINUTES_MS - 1, two, "detecting"],
    ["5 minutes are stuck", memory, "one", FIVE_MINUTES_MS, two, "stuck"],
    [
      "5 minutes are stuck also when the evidence moved",
      memory,
      "other",
      FIVE_MINUTES_MS,
      { ...memory, evidenceHash: "other" },
      "stuck",
    ],
    [
      "a clock that went back is no age: an episode that lies ahead begins now",
      memory,
      "one",
      -FIVE_MINUTES_MS,
      { ...two, startedAtMs: T0_MS - FIVE_MINUTES_MS },
      "detecting",
    ],
  ])("%s", (_fact, before, evidenceHash, afterMs, expected, state) => {
    const { memory: after, session } = look(before, evidenceHash, T0_MS + afterMs);
    expect(after).toEqual(expected);
    expect(session).toEqual({ state, reason: "runtime_lost" });
  });

  test("after the clock was set back by an hour doubt that moves all the time is stuck in 5 minutes", () => {
    const nowMs = T0_MS - 3_600_000;
    const { memory: after } = look(memory, "other", nowMs);
    expect(look(after, "one", nowMs + FIVE_MINUTES_MS - 1).session.state).toBe("detecting");
    expect(look(after, "one", nowMs + FIVE_MINUTES_MS).session.state).toBe("stuck");
  });

  test.each(["runtime_lost", "agent_process_exited", "probe_failure"] as const)(
    "the proposed reason %s is kept in doubt and when stuck",
    (reason) => {
      const doubt = decideDetecting({ memory: null, evidenceHash: "one", nowMs: T0_MS, reason });
      const stuck = decideDetecting({ memory: two, evidenceHash: "one", nowMs: T0_MS, reason });
      expect([doubt.session.reason, stuck.session.reason]).toEqual([reason, reason]);
    },
  );

  test("over any episode the start stays and three equal looks in a row are stuck", () => {
    const hashes = fc.array(fc.constantFrom("one", "other"), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(hashes, (seen) => {
        let current: DetectingMemory | null = null;
        let row = 0;
        seen.forEach((hash, index) => {
          row = index > 0 && seen[index - 1] === hash ? row + 1 : 1;
          const verdict = look(current, hash, T0_MS + index);
          expect(verdict.memory.startedAtMs).toBe(T0_MS);
          expect(verdict.session.state).toBe(row >= 3 ? "stuck" : "detecting");
          current = verdict.memory;
        });
      }),
    );
  });
});

describe("normalizeEvidence", () => {
  test.each([
    ["an ISO time with milliseconds", "at 2026-01-02T03:04:05.678Z gone", "at gone"],
    ["an ISO time with an offset", "at 2026-01-02T03:04:05+01:00 gone", "at gone"],
    ["an ISO time with a space", "at 2026-01-02 03:04:05 gone", "at gone"],
    ["Unix milliseconds", "at 1767323045678 gone", "at gone"],
    ["Unix seconds", "at 1767323045 gone", "at gone"],
    ["Unix seconds with a fraction", "at 1767323045.678901 gone", "at gone"],
    ["folded whitespace", "  at \t\n gone\r\n", "at gone"],
    ["a pid, which is no time", "pid 4194304 gone", "pid 4194304 gone"],
    ["an exit status, which is no time", "exited, status 137", "exited, status 137"],
    ["digits inside a word, which are no time", "launch-a1767323045678b", "launch-a1767323045678b"],
  ])("%s", (_what, text, expected) => {
    expect(normalizeEvidence(text)).toBe(expected);
  });

  test("evidence that differs only in times and whitespace is the same", () => {
    const aWord = fc.stringMatching(/^[a-z]{1,8}$/);
    const aTime = fc
      .date({ min: new Date("2001-09-10"), max: new Date("2286-11-20"), noInvalidDate: true })
      .chain((date) =>
        fc.constantFrom(date.toISOString(), `${date.getTime()}`, `${Math.trunc(date.getTime() / 1_000)}`),
      );
    const aGap = fc.constantFrom(" ", "  ", "\t", "\n");
    const words = fc.array(fc.tuple(aWord, aGap, aTime, aGap), { maxLength: 6 });
    fc.assert(
      fc.property(words, (parts) => {
        const timed = parts.map(([word, gap, time, end]) => `${word}${gap}${time}${end}`).join("");
        expect(normalizeEvidence(timed)).toBe(parts.map(([word]) => word).join(" "));
      }),
    );
  });

  test("long evidence is read in time", () => {
    const long = "9".repeat(1_000_000);
    expect(normalizeEvidence(long)).toBe(long);
  });
});
