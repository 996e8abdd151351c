import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "..", "..");

test.each(["dist/ao-main.cjs", "dist-faults/ao-main.cjs"])(
  "%s, which is read one byte a character, has no character of more than one",
  (path) => {
    const lines = readFileSync(join(ROOT, path), "latin1").split("\n");
    expect(lines.filter((line) => /[^\0-\x7f]/.test(line)).map((line) => line.trim())).toEqual([]);
  },
);
