import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  INITIAL_INPUT,
  type InputEvent,
  type InputState,
  isEscapePending,
  readInput,
  tellEscape,
} from "../../../../../src/adapters/agents/embedded/program/input-parser.ts";

const START = "\x1b[200~";
const END = "\x1b[201~";

/** Events as short words: the text itself, other keys as `<key>`; texts that follow each other are one. */
function words(events: readonly InputEvent[]): string {
  const parts = events.map((event) =>
    event.kind === "text" ? Buffer.from(event.bytes) : Buffer.from(`<${event.kind}>`),
  );
  return Buffer.concat(parts).toString("utf8");
}

function readAll(chunks: readonly (string | Uint8Array)[]): { state: InputState; said: string } {
  const events: InputEvent[] = [];
  let state = INITIAL_INPUT;
  for (const chunk of chunks) {
    const step = readInput(state, Buffer.from(chunk));
    state = step.state;
    events.push(...step.events);
  }
  return { state, said: words(events) };
}

describe("keys", () => {
  test.each([
    ["typed letters are text", "héllo 😀", "héllo 😀"],
    ["a carriage return submits", "a\r", "a<enter>"],
    ["a line feed is text", "a\nb", "a\nb"],
    ["a tab is text", "\t", "\t"],
    ["backspace in both of its spellings", "\x7f\x08", "<backspace><backspace>"],
    ["ctrl-u clears", "\x15", "<clear>"],
    ["ctrl-c interrupts", "\x03", "<interrupt>"],
    ["ctrl-d ends", "\x04", "<end>"],
    ["other control keys are dropped", "\x01\x0c\x1a", ""],
    ["arrows and function keys are dropped", "a\x1b[A\x1b[1;5C\x1bOP\x1b[15~b", "ab"],
    ["an escape before another key is the escape key", "\x1bx", "<escape>x"],
    ["two escapes are one key and one that may still grow", "\x1b\x1b", "<escape>"],
    ["an endless sequence is given up", `\x1b[${"1".repeat(40)}`, ""],
  ])("%s", (_name, bytes, said) => {
    expect(readAll([bytes]).said).toBe(said);
  });
});

describe("a lone escape byte", () => {
  const { state } = readInput(INITIAL_INPUT, Buffer.from("\x1b"));

  test("waits", () => {
    expect(isEscapePending(state)).toBe(true);
  });

  test("is the escape key after nothing followed", () => {
    const told = tellEscape(state);
    expect(words(told.events)).toBe("<escape>");
    expect(isEscapePending(told.state)).toBe(false);
    expect(tellEscape(told.state).events).toEqual([]);
  });

  test("may still open a paste, late, and is told once", () => {
    const opened = readInput(tellEscape(state).state, Buffer.from(`[200~a\rb${END}\r`));
    expect(words(opened.events)).toBe("a\rb<enter>");
  });

  test("hides nothing that is typed later", () => {
    const step = readInput(tellEscape(state).state, Buffer.from("[2x"));
    expect(words(step.events)).toBe("[2x");
  });

  test("is nothing to wait for inside of a paste", () => {
    expect(isEscapePending(readAll([`${START}a\x1b`]).state)).toBe(false);
  });
});

describe("a paste", () => {
  test.each([
    ["keeps its line ends and control bytes", `${START}a\nb\r\x03\x04\x15${END}`, "a\nb\r\x03\x04\x15"],
    ["keeps escape sequences in it", `${START}\x1b[31mred\x1b[200~${END}`, "\x1b[31mred\x1b[200~"],
    ["that follows another directly adds to it", `${START}x\x1b${END}${START}[201~y${END}`, "x\x1b[201~y"],
    ["may end in an escape byte", `${START}x\x1b${END}`, "x\x1b"],
    ["may be empty", `${START}${END}`, ""],
    ["is submitted by the enter that follows it", `${START}a${END}\r`, "a<enter>"],
    ["stands between typed text", `1${START}2${END}3`, "123"],
  ])("%s", (_name, bytes, said) => {
    expect(readAll([bytes]).said).toBe(said);
  });

  test("arrives whole wherever its bytes are cut", () => {
    const piece = fc.constantFrom("a", "é", "\n", "\r", "\x1b", "[", "2", "0", "1", "~", END.slice(0, 5));
    const content = fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join("").replaceAll(END, ""));
    fc.assert(
      fc.property(content, fc.array(fc.nat(60)), (text, cuts) => {
        fc.pre(!text.includes(END));
        const bytes = Buffer.from(`${START}${text}${END}\r`);
        const places = [...new Set(cuts.map((cut) => cut % bytes.length))].sort((a, b) => a - b);
        const edges = [0, ...places, bytes.length];
        const chunks = edges.slice(1).map((end, index) => bytes.subarray(edges[index], end));
        expect(readAll(chunks)).toEqual({ state: INITIAL_INPUT, said: `${text}<enter>` });
      }),
    );
  });
});
