import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { expect, test } from "vitest";
import { shellQuoted } from "../../../src/domain/shell-quoted.ts";

test.each([
  ["/src/app", "/src/app"],
  ["feat/42", "feat/42"],
  ["", "''"],
  ["it's", "'it'\\''s'"],
  ["$(rm -rf ~)", "'$(rm -rf ~)'"],
  ["=ls", "'=ls'"],
  ["a b", "'a b'"],
])("%j is typed as %s", (word, typed) => {
  expect(shellQuoted(word)).toBe(typed);
});

test("whatever it holds, a shell passes it on as it is", () => {
  const word = fc.string({
    unit: fc.oneof(fc.constantFrom(..."'\"\\$`!*?~#&;|<>(){}[]= \n\t-"), fc.string()),
  });
  const words = fc.array(
    word.map((text) => Buffer.from(text.replaceAll("\0", "")).toString()),
    { minLength: 1 },
  );
  fc.assert(
    fc.property(words, (all) => {
      const script = `printf '%s\\0' ${all.map(shellQuoted).join(" ")}`;
      const said = execFileSync("/bin/sh", ["-c", script], { encoding: "utf8" });
      expect(said.split("\0").slice(0, -1)).toEqual(all);
    }),
    { numRuns: 200 },
  );
});
