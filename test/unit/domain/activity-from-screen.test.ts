import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { activityFromScreen } from "../../../src/domain/activity-from-screen.ts";
import { launchId, T0_MS } from "../../support/builders.ts";

const LAUNCH = launchId("launch-1");
const PATTERNS = {
  question: [/^Which/],
  waiting: [/^Do you trust/, /\[y\/n\]$/],
  busy: [/esc to interrupt/g],
  ready: [/^> ?$/],
};
const read = (lines: readonly string[], changedAtMs: number | null = T0_MS) =>
  activityFromScreen(PATTERNS, { lines, changedAtMs }, LAUNCH);

describe("a screen", () => {
  test.each([
    ["with a question", ["Do you trust the files in this folder?"], "waiting_input"],
    ["with another question", ["Overwrite it? [y/n]"], "waiting_input"],
    ["at work", ["Thinking… (esc to interrupt)"], "active"],
    ["with a prompt", ["> "], "ready"],
    ["at work above a prompt", ["(esc to interrupt)", ">"], "active"],
    ["with a question while it works", ["(esc to interrupt)", "Do you trust it?", ">"], "waiting_input"],
  ])("%s tells %s", (_what, lines, state) => {
    const signal = { state, confidence: "valid", source: "terminal", atMs: T0_MS, launchId: LAUNCH };
    expect(read(lines)).toMatchObject(signal);
    expect(read(lines)).toEqual(read(lines));
  });

  test.each([
    ["that shows what was not declared a question", ["Do you trust it?"], "permission"],
    ["that shows a plain question", ["Which colour?"], "question"],
    ["that shows both", ["Which colour?", "Do you trust it?"], "permission"],
    ["of an agent at work", ["(esc to interrupt)"], undefined],
  ])("%s asks for %s", (_what, lines, asks) => {
    expect(read(lines)?.asks).toBe(asks);
  });

  test.each([
    ["that is empty", [], T0_MS],
    ["that shows something else", ["hello", "He said: Do you trust me?"], T0_MS],
    ["of which nobody tells when it changed", [">"], null],
  ])("%s tells nothing", (_what, lines, changedAtMs) => {
    expect(read(lines, changedAtMs)).toBeNull();
  });
});

test("more lines never hide a question", () => {
  fc.assert(
    fc.property(fc.array(fc.string()), fc.array(fc.string()), (above, below) => {
      expect(read([...above, "Go on? [y/n]", ...below])?.state).toBe("waiting_input");
    }),
  );
});
