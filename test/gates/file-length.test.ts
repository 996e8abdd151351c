import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const MOST_LINES = 250;
const ROOT = join(import.meta.dirname, "..", "..");

const lengthOf = (path: string) => readFileSync(path, "utf8").trimEnd().split("\n").length;

test.each(["src", "cmd"])(`no file of %s has more than ${MOST_LINES} lines`, (folder) => {
  const files = readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" }).filter((path) =>
    path.endsWith(".ts"),
  );
  expect(files.length).toBeGreaterThan(20);
  const long = files.filter((path) => lengthOf(join(ROOT, folder, path)) > MOST_LINES);
  expect(long).toEqual([]);
});
