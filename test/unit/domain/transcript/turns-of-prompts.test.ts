import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type LoggedPrompt, turnsOfPrompts } from "../../../../src/domain/transcript/turns-of-prompts.ts";

const any = () => true;
const promptAt = (atMs: number | null, text = "go on"): LoggedPrompt => ({ text, atMs });
const turnAt = (startedAtMs: number, turnId = `turn-${startedAtMs}`) => ({ turnId, startedAtMs });

describe("the turn of a prompt in an agent's own log", () => {
  test.each(["prompts", "turns"] as const)(
    "is the one that was told of at that time, whichever %s were lost",
    (losing) => {
      const one = fc.record({
        gapMs: fc.integer({ min: 1_000, max: 100_000 }),
        lateMs: fc.integer({ min: -499, max: 499 }),
        isLost: fc.boolean(),
      });
      fc.assert(
        fc.property(fc.array(one, { maxLength: 30 }), (all) => {
          let atMs = 0;
          const said = all.map(({ gapMs, lateMs, isLost }, number) => {
            atMs += gapMs;
            return { isLost, turnId: `turn-${number}`, prompt: promptAt(atMs), startedAtMs: atMs + lateMs };
          });
          const kept = said.filter(({ isLost }) => !isLost);
          const prompts = (losing === "prompts" ? kept : said).map(({ prompt }) => prompt);
          const found = turnsOfPrompts(prompts, losing === "turns" ? kept : said, any);
          expect(found).toEqual(new Map(kept.map(({ prompt, turnId }) => [prompt, turnId])));
        }),
      );
    },
  );

  test("is that of equal prompts in their order", () => {
    const prompts = [1_000, 3_000, 5_000].map((atMs) => promptAt(atMs));
    const found = turnsOfPrompts(prompts, [turnAt(1_400), turnAt(3_900), turnAt(5_700)], any);
    expect(prompts.map((prompt) => found.get(prompt))).toEqual(["turn-1400", "turn-3900", "turn-5700"]);
  });

  test("is not that of another prompt beside it whose own turn is unknown", () => {
    const [lost, own] = [promptAt(1_000), promptAt(3_000)];
    expect(turnsOfPrompts([lost, own], [turnAt(3_200)], any)).toEqual(new Map([[own, "turn-3200"]]));
  });

  test("is unknown without a time, long before or after it, and when it was another text", () => {
    expect(turnsOfPrompts([promptAt(null)], [turnAt(0)], any).size).toBe(0);
    expect(turnsOfPrompts([promptAt(0), promptAt(90_000)], [turnAt(45_000)], any).size).toBe(0);
    expect(turnsOfPrompts([promptAt(1_000)], [turnAt(1_000)], () => false).size).toBe(0);
  });
});
