import { expect, test } from "vitest";
import { lineAppender } from "../../../../../src/adapters/agents/embedded/program/line-appender.ts";

/** A file of which a write may fail half way, as on a full disk. */
function aFile() {
  let content = "";
  let isFull = false;
  return {
    content: () => content,
    setFull: (full: boolean) => {
      isFull = full;
    },
    write: (text: string) => {
      content += isFull ? text.slice(0, 3) : text;
      if (isFull) throw new Error("disk full");
    },
  };
}

test("lines follow each other", () => {
  const file = aFile();
  const append = lineAppender(file.write, false);
  append("one");
  append("two");
  expect(file.content()).toBe("one\ntwo\n");
});

test("a line that was cut by a failure takes no later one with it", () => {
  const file = aFile();
  const append = lineAppender(file.write, false);
  file.setFull(true);
  expect(() => append("first")).toThrow("disk full");
  file.setFull(false);
  append("second");
  append("third");
  expect(file.content()).toBe("fir\nsecond\nthird\n");
});

test("a file that was left torn is closed off first", () => {
  const file = aFile();
  lineAppender(file.write, true)("one");
  expect(file.content()).toBe("\none\n");
});
