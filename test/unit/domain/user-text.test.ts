import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type AoError, EXIT_CODES, isAoError } from "../../../src/domain/errors.ts";
import { parseIssueId, parsePrompt, parseTitle } from "../../../src/domain/user-text.ts";
import { anyText } from "./arbitraries.ts";

const TEN_MEGABYTES = "x".repeat(10 * 1024 * 1024);
const SIXTEEN_MEBIBYTES = 16 * 1024 * 1024;
const HOSTILE_LINES = [
  "#(touch x)",
  "$(touch x)",
  "`touch x`",
  "../..",
  "-rf",
  "🚀🎉",
  "\u001b[31mred",
  "\u202egnp.exe",
  "tab\there",
  " padded ",
  "日本語",
  "a'b\"c\\d;e&f|g",
];

function refusal(parse: () => unknown): AoError {
  try {
    parse();
  } catch (error) {
    if (isAoError(error, "usage")) return error;
    throw error;
  }
  throw new Error("the text was accepted");
}

describe.each([
  ["title", parseTitle],
  ["issue id", parseIssueId],
] as const)("a %s", (name, parse) => {
  test.each(HOSTILE_LINES)("%j is carried literally", (text) => {
    expect(parse(text)).toBe(text);
  });

  test.each([
    ["is empty", ""],
    ["is empty", " \t "],
    ["contains a NUL character", "a\0b"],
    ["has more than one line", "a\nb"],
    ["has more than one line", "a\rb"],
    ["has more than one line", "a\u2028b"],
    ["is longer than 200 characters", "x".repeat(201)],
    ["is longer than 200 characters", "🚀".repeat(201)],
  ])("that %s is refused with a hint", (why, text) => {
    const error = refusal(() => parse(text));
    expect(error.message).toBe(`the ${name} ${why}`);
    expect(error.hint).not.toBeNull();
    expect(EXIT_CODES[error.code]).toBe(2);
  });

  test("of ten megabytes is refused", () => {
    expect(refusal(() => parse(TEN_MEGABYTES)).message).toBe(`the ${name} is longer than 200 characters`);
  });

  test.each(["x", "🚀"])("of 200 times %s is accepted", (character) => {
    expect(parse(character.repeat(200))).toBe(character.repeat(200));
  });

  test("is never changed: it is accepted as it is or refused", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const isOneLine = !/[\0\n\r\u2028\u2029]/.test(text);
        const isAcceptable = isOneLine && text.trim() !== "" && [...text].length <= 200;
        if (isAcceptable) expect(parse(text)).toBe(text);
        else expect(refusal(() => parse(text)).code).toBe("usage");
      }),
    );
  });
});

describe("a prompt", () => {
  test.each([...HOSTILE_LINES, "", "many\nlines\r\n"])("%j is carried literally", (text) => {
    expect(parsePrompt(text)).toBe(text);
  });

  test("that contains a NUL character is refused with a hint", () => {
    const error = refusal(() => parsePrompt("a\0b"));
    expect(error.message).toBe("the prompt contains a NUL character");
    expect(error.hint).not.toBeNull();
  });

  test.each([
    ["x", SIXTEEN_MEBIBYTES],
    ["é", SIXTEEN_MEBIBYTES / 2],
    ["🚀", SIXTEEN_MEBIBYTES / 4],
  ])("of %s is accepted up to 16 MiB of UTF-8 and not a byte more", (character, count) => {
    const longest = character.repeat(count);
    expect(parsePrompt(longest) === longest).toBe(true);
    expect(refusal(() => parsePrompt(`${longest}x`)).message).toBe("the prompt is longer than 16 MiB");
  });
});
