import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parsePromptSteps, type Step } from "../../../../../src/adapters/agents/embedded/program/steps.ts";

describe("a line that is a step", () => {
  test.each<[string, Step]>([
    ["say hello there", { kind: "say", text: "hello there" }],
    ["say", { kind: "say", text: "" }],
    ["write a.txt one two", { kind: "write", path: "a.txt", text: "one two" }],
    ["write a.txt", { kind: "write", path: "a.txt", text: "" }],
    ["write a.txt   indented", { kind: "write", path: "a.txt", text: "  indented" }],
    ["write a.txt one\\ntwo\\tthree\\\\n", { kind: "write", path: "a.txt", text: "one\ntwo\tthree\\n" }],
    ['write "my file.txt" text', { kind: "write", path: "my file.txt", text: "text" }],
    ["append docs/log.md more", { kind: "append", path: "docs/log.md", text: "more" }],
    ["delete a.txt", { kind: "delete", path: "a.txt" }],
    ['delete "a b"', { kind: "delete", path: "a b" }],
    ["commit Fix the redirect", { kind: "commit", message: "Fix the redirect" }],
    ["ask which colour?", { kind: "ask", question: "which colour?" }],
    ["wait 2", { kind: "wait", delayMs: 2000 }],
    ["wait 0.25", { kind: "wait", delayMs: 250 }],
    ["background 60", { kind: "background", seconds: 60 }],
    ["recall", { kind: "recall" }],
    ["help", { kind: "help" }],
    ["fail out of luck", { kind: "fail", message: "out of luck" }],
    ["exit", { kind: "exit", code: 0 }],
    ["exit 3", { kind: "exit", code: 3 }],
    ["crash", { kind: "crash" }],
  ])("%s", (line, step) => {
    expect(parsePromptSteps(line)).toEqual({ steps: [step], proseLines: 0 });
  });
});

describe("a line that is prose", () => {
  test.each([
    "Fix the login redirect",
    "Say hello",
    "saying hello",
    "wait for the build",
    "wait -1",
    "wait 9999999",
    "delete the old files",
    "exit 256",
    "exit the loop",
    "recall what we said",
    "crash early",
    "commit",
    "ask ",
    "write",
    'write "unclosed text',
    "constructor x",
    "  say indented",
  ])("%s", (line) => {
    expect(parsePromptSteps(line)).toEqual({ steps: [], proseLines: 1 });
  });
});

describe("a prompt", () => {
  test.each([
    ["line feeds", "say one\nsay two"],
    ["carriage returns", "say one\rsay two"],
    ["both", "say one\r\nsay two\r\n"],
  ])("has its lines ended by %s", (_name, prompt) => {
    expect(parsePromptSteps(prompt).steps).toEqual([
      { kind: "say", text: "one" },
      { kind: "say", text: "two" },
    ]);
  });

  test("keeps the order of its steps and counts the prose between them", () => {
    const { steps, proseLines } = parsePromptSteps("Please do this.\n\nsay one\n\n- a list\nfail two");
    expect(steps.map(({ kind }) => kind)).toEqual(["say", "fail"]);
    expect(proseLines).toBe(2);
  });

  test("of any text is read without an error, each line once", () => {
    const line = fc.oneof(
      fc.string({ unit: "binary" }),
      fc
        .tuple(fc.constantFrom("say", "write", "wait", "exit", "delete"), fc.string())
        .map((word) => word.join(" ")),
    );
    fc.assert(
      fc.property(fc.array(line), (lines) => {
        const prompt = lines.join("\n");
        const { steps, proseLines } = parsePromptSteps(prompt);
        const filled = prompt.split(/\r\n|\r|\n/).filter((text) => text.trim() !== "");
        expect(steps.length + proseLines).toBe(filled.length);
      }),
    );
  });
});
