import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "..", "..");

/** A command of a shell in a template, and behind it something that names a file or a branch and is not quoted. */
const BARE =
  /`[^`]*(?:\b(?:rm|mv|ls|cp|cat|git|chmod|chown|mkdir|cd)\b|--config)[^`]*\$\{(?!shellQuoted\()[^}]*(?:path|file|folder|tree|dir|branch|around)\w*\}/i;
const IS_ADVICE = /\b(?:hint|fix)\b|shellQuoted|: git |: rm |: mv /;

function sources(): readonly string[] {
  const below = (folder: string) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" }).map((name) => join(folder, name));
  return ["src", "cmd"].flatMap(below).filter((name) => name.endsWith(".ts"));
}

const isBare = (line: string) => IS_ADVICE.test(line) && BARE.test(line);

test("a command in a hint quotes the paths and names in it", () => {
  const bare = sources().flatMap((name) =>
    readFileSync(join(ROOT, name), "utf8")
      .split("\n")
      .flatMap((line, at) => (isBare(line) ? [`${name}:${at + 1} ${line.trim()}`] : [])),
  );
  expect(bare).toEqual([]);
});

test.each([
  ["hint: `when no git process is running there: rm '${lockFile}'`,", true],
  ["hint: `read it, then name it: --config ${path}`,", true],
  ["hint: `git -C ${repository.path} branch --all`,", true],
  ["hint: `rm ${shellQuoted(lockFile)}`,", false],
  ["hint: `check the owner of ${dir}`,", false],
  ["hint: `ao restore ${id}`,", false],
])("%s is found: %s", (line, isFound) => {
  expect(isBare(line)).toBe(isFound);
});
