import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createDraft } from "../../../../../src/adapters/agents/embedded/program/draft.ts";

function draftOf(...texts: readonly string[]) {
  const draft = createDraft();
  for (const text of texts) draft.append(Buffer.from(text));
  return draft;
}

describe("a draft", () => {
  test("gives what was added, once", () => {
    const draft = draftOf("one ", "two");
    expect(draft.take()).toBe("one two");
    expect(draft.isEmpty()).toBe(true);
    expect(draft.take()).toBe("");
  });

  test("joins a character that came in two reads", () => {
    const [first, second] = [Buffer.from("😀").subarray(0, 2), Buffer.from("😀").subarray(2)];
    const draft = createDraft();
    draft.append(first);
    draft.append(second);
    expect(draft.take()).toBe("😀");
  });

  test("loses one whole character by a backspace", () => {
    const draft = draftOf("a😀");
    draft.backspace();
    expect(draft.take()).toBe("a");
    draft.backspace();
    expect(draft.isEmpty()).toBe(true);
  });

  test.each([
    ["a short text as it is", "fix it", "fix it"],
    ["several lines by their size", "a\nb\nc", "[3 lines, 5 bytes]"],
    ["a long text by its size", "x".repeat(5000), "[1 lines, 5000 bytes]"],
  ])("shows %s", (_name, text, view) => {
    expect(draftOf(text).view()).toBe(view);
  });

  test("keeps a byte order mark and everything else that is text", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "grapheme" })), (texts) => {
        expect(draftOf("\ufeff", ...texts).take()).toBe(`\ufeff${texts.join("")}`);
      }),
    );
  });
});
