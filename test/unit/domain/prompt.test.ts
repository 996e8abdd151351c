import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { composePrompt } from "../../../src/domain/prompt.ts";
import { anyText } from "./arbitraries.ts";

describe("composePrompt", () => {
  test.each<[string, string | null, string | null, string | null]>([
    ["both are joined by a blank line", "do the thing", "be careful", "do the thing\n\nbe careful"],
    ["a prompt alone is itself", "do the thing", null, "do the thing"],
    ["rules alone are themselves", null, "be careful", "be careful"],
    ["an empty prompt is absent", "", "be careful", "be careful"],
    ["empty rules are absent", "do the thing", "", "do the thing"],
    ["nothing is nothing", null, null, null],
    ["nothing but empty text is nothing", "", "", null],
  ])("%s", (_fact, prompt, rules, composed) => {
    expect(composePrompt(prompt, rules)).toBe(composed);
  });

  test("a prompt arrives byte for byte, before the rules", () => {
    const aText = anyText.filter((text) => text !== "");
    fc.assert(
      fc.property(aText, fc.option(aText), (prompt, rules) => {
        const ending = rules === null ? "" : `\n\n${rules}`;
        expect(composePrompt(prompt, rules)).toBe(prompt + ending);
      }),
    );
  });
});
