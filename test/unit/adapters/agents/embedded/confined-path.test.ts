import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { confinePath } from "../../../../../src/adapters/agents/embedded/program/confined-path.ts";
import { tempDir } from "../../../../support/temp-dir.ts";

/** A working directory with links in it, beside a folder that is not to be touched. */
function aWorkspace(): string {
  const base = tempDir();
  const root = join(base, "work");
  mkdirSync(join(root, "src"), { recursive: true });
  mkdirSync(join(base, "work-other"));
  writeFileSync(join(base, "secret"), "");
  symlinkSync("src", join(root, "inner"));
  symlinkSync("..", join(root, "up"));
  symlinkSync("../secret", join(root, "leak"));
  symlinkSync("../nothing-yet", join(root, "dangling"));
  symlinkSync("loop", join(root, "loop"));
  return root;
}

describe("a path to edit", () => {
  test.each([
    ["a file of the folder", "a.txt", "a.txt"],
    ["a file in folders to be made", "x/y/z.txt", "x/y/z.txt"],
    ["a way round that stays inside", "src/../a.txt", "a.txt"],
    ["a link that stays inside", "inner/a.txt", "src/a.txt"],
    ["a name that begins with a dash", "-rf", "-rf"],
    ["a name that only looks like git's", ".github/x", ".github/x"],
  ])("%s is taken", (_name, path, inside) => {
    expect(confinePath(aWorkspace(), path)).toBe(inside);
  });

  test("an absolute path inside is taken", () => {
    const root = aWorkspace();
    expect(confinePath(root, join(root, "a.txt"))).toBe("a.txt");
  });

  test.each([
    ["the folder itself", "."],
    ["the folder above", ".."],
    ["a file above", "../secret"],
    ["a folder whose name begins alike", "../work-other/a"],
    ["an absolute path elsewhere", "/etc/passwd"],
    ["a way out through a linked folder", "up/secret"],
    ["a new file behind a linked folder", "up/new.txt"],
    ["a link to a file elsewhere", "leak"],
    ["a link to where nothing is yet", "dangling"],
    ["a file below such a link", "dangling/a"],
    ["a link to itself", "loop"],
    ["git's folder", ".git/config"],
    ["a nested one", "src/.GIT/hooks/post-commit"],
  ])("%s is refused", (_name, path) => {
    expect(() => confinePath(aWorkspace(), path)).toThrow(expect.objectContaining({ code: "usage" }));
  });
});
