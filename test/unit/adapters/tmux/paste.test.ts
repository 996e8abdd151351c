import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { pasteFlags, splitAtPasteEnd, typingCall } from "../../../../src/adapters/tmux/paste.ts";

const ENDS = ["\x1b[201~", "\u009b201~"];

describe("splitAtPasteEnd", () => {
  test.each<[string, string, readonly string[]]>([
    ["nothing", "", []],
    ["plain text", "hello", ["hello"]],
    ["the end of a paste", "a\x1b[201~b", ["a\x1b", "[201~b"]],
    ["its short form", "a\u009b201~b", ["a\u009b", "201~b"]],
    ["two of them", "\x1b[201~\x1b[201~", ["\x1b", "[201~\x1b", "[201~"]],
    ["one behind an escape", "\x1b\x1b[201~", ["\x1b\x1b", "[201~"]],
    ["the start of a paste", "\x1b[200~", ["\x1b[200~"]],
    ["half an end", "\x1b[201", ["\x1b[201"]],
  ])("%s", (_name, text, pieces) => {
    expect(splitAtPasteEnd(text)).toEqual(pieces);
  });

  test("the pieces are the text, and none of them ends a paste, not even with what tmux puts behind it", () => {
    const part = fc.constantFrom(...ENDS, "\x1b", "[", "201~", "\u009b", "x", "\n");
    fc.assert(
      fc.property(fc.array(part), (parts) => {
        const pieces = splitAtPasteEnd(parts.join(""));
        expect(pieces.join("")).toBe(parts.join(""));
        for (const piece of pieces) for (const end of ENDS) expect(piece).not.toContain(end);
      }),
    );
  });
});

test.each([
  ["3.2", "-dpr"],
  ["3.3a", "-dpr"],
  ["3.6b", "-dpr"],
  ["3.7", "-dprS"],
  ["4.0", "-dprS"],
  ["unheard of", "-dpr"],
])("tmux %s pastes with %s", (version, flags) => {
  expect(pasteFlags(version)).toBe(flags);
});

describe("typingCall", () => {
  const pane = { sessionId: "$3", paneId: "%4", aoSessionId: "app-1", launchId: "launch-1", serverPid: 4711 };
  const call = (pieces: readonly string[]) =>
    typingCall({ pane, pieces, bufferName: "ao-1", flags: "-dpr", onlyBracketed: false });

  test.each([
    ["one piece", ["secret"]],
    ["two pieces", ["secret\x1b", "[201~secret"]],
  ])("the text of %s is on no command line", (_name, pieces) => {
    expect(call(pieces).command.join(" ")).not.toContain("secret");
  });

  test("one piece goes in as it is", () => {
    expect(call(["$HOME;\n#(x)"]).input).toBe("$HOME;\n#(x)");
  });

  test("several pieces are a script in which no character has a meaning of its own", () => {
    const { input } = call(["-$a;'\"\\\x1b", "[201~#{b}\n日本"]);
    const [first, second] = input.split("\n");
    expect(first).toBe(
      `"set\\055buffer" "\\055b" "ao\\0551\\0550" "\\055\\055" "\\055\\044a\\073\\047\\042\\134\\033"`,
    );
    expect(second).toContain('"\\133201\\176\\043\\173b\\175\\012日本"');
    expect(input.split("\n")).toHaveLength(4);
  });
});
