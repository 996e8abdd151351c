import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { printable } from "../../../src/domain/printable.ts";
import { anyText } from "./arbitraries.ts";

describe("printable", () => {
  test.each([
    ["a line break", "one\ntwo", "one\\ntwo"],
    ["a carriage return", "one\rtwo", "one\\rtwo"],
    ["a tab", "one\ttwo", "one\\ttwo"],
    ["NUL", "one\0two", "one\\x00two"],
    ["an escape sequence", "\u001b[31mred", "\\x1b[31mred"],
    ["a title-setting sequence", "\u001b]0;x\u0007", "\\x1b]0;x\\x07"],
    ["DEL", "one\u007ftwo", "one\\x7ftwo"],
    ["a C1 control", "\u009b31m", "\\x9b31m"],
    ["a direction override", "\u202egnp.exe", "\\u202egnp.exe"],
    ["a direction isolate", "\u2066x\u2069", "\\u2066x\\u2069"],
    ["an Arabic letter mark", "\u061cx", "\\u061cx"],
    ["a line separator", "one\u2028two", "one\\u2028two"],
    ["half a surrogate pair", "\ud800x", "\\ud800x"],
  ])("%s is made visible", (_what, text, shown) => {
    expect(printable(text)).toBe(shown);
  });

  test.each(["Fix #42: $(x) `y` #(touch x)", "日本語 🚀 é", "C:\\path\\new", "", "👩‍👩‍👧"])(
    "%j stays literal",
    (text) => {
      expect(printable(text)).toBe(text);
    },
  );

  test("any text becomes one line without a character that acts on a terminal", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const shown = printable(text);
        expect(shown).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\p{Bidi_Control}]/u);
        expect(printable(shown)).toBe(shown);
      }),
    );
  });
});
