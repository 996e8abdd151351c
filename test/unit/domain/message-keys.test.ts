import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hasKeys, refuseKeys } from "../../../src/domain/message-keys.ts";
import { sessionId } from "../../support/builders.ts";

const ID = sessionId("app-1");

describe("refuseKeys", () => {
  test.each([
    ["an interrupt", "stop\x03", "^C", 4],
    ["an end of input", "\x04", "^D", 0],
    ["a suspension", "a\x1a\x03", "^Z", 1],
    ["a quit", "\x1c", "^\\", 0],
    ["an erasure", "ab\b", "^H", 2],
    ["an escape", "\x1b[A", "an escape (^[)", 0],
    ["a delete", "\x7f", "a delete (^?)", 0],
    ["a carriage return", "a\r\nb", "a carriage return (^M)", 1],
  ])("%s is named with its place", (_what, text, character, index) => {
    expect(() => refuseKeys(ID, text)).toThrow(
      expect.objectContaining({
        code: "message_unsafe",
        message: `the message for app-1 holds ${character}, which its terminal would take as a key`,
        details: { sessionId: "app-1", character, index },
      }),
    );
  });

  test("lines that end in CR LF are to be told apart from other keys by their hint", () => {
    expect(() => refuseKeys(ID, "a\r\nb")).toThrow(
      expect.objectContaining({ hint: expect.stringContaining("line feed") }),
    );
    expect(() => refuseKeys(ID, "\x03")).toThrow(
      expect.objectContaining({ hint: expect.stringContaining("file of the worktree") }),
    );
  });

  test("text is refused exactly when it has keys, and keys are all C0 but tab and line feed, and DEL", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const codes = [...text].map((character) => character.codePointAt(0) ?? 0);
        const expected = codes.some((code) => code === 127 || (code < 32 && code !== 9 && code !== 10));
        expect(hasKeys(text)).toBe(expected);
        if (expected) expect(() => refuseKeys(ID, text)).toThrow();
        else expect(() => refuseKeys(ID, text)).not.toThrow();
      }),
    );
  });
});
