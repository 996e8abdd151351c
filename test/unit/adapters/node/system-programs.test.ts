import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { systemPrograms } from "../../../../src/adapters/node/system-programs.ts";
import { tempDir } from "../../../support/temp-dir.ts";

const programs = systemPrograms();

/** Folders `one` and `two`: an executable `tool` in `two`, and what `make` makes of that name in `one`. */
function aSearchPath(make: (path: string, root: string) => void): string {
  const root = tempDir();
  for (const folder of ["one", "two"]) mkdirSync(join(root, folder));
  writeFileSync(join(root, "two", "tool"), "", { mode: 0o755 });
  make(join(root, "one", "tool"), root);
  return root;
}

const find = (root: string) => programs.find("tool", `${root}/one:${root}/two`, root);

describe("systemPrograms.find", () => {
  test.each<[string, (path: string, root: string) => void]>([
    ["a file that may not be executed", (path) => writeFileSync(path, "", { mode: 0o644 })],
    ["a folder", (path) => mkdirSync(path, { mode: 0o755 })],
    ["a dangling link", (path) => symlinkSync("/nowhere", path)],
    ["a link in a circle", (path) => symlinkSync(path, path)],
    ["a link to a folder", (path, root) => symlinkSync(root, path)],
  ])("passes over %s", async (_what, make) => {
    const root = aSearchPath(make);
    expect(await find(root)).toBe(join(root, "two", "tool"));
  });

  test("finds a link to a program, by the name of the link", async () => {
    const root = aSearchPath((path, folder) => symlinkSync(join(folder, "two", "tool"), path));
    expect(await find(root)).toBe(join(root, "one", "tool"));
  });

  test("finds a name with spaces and signs of the shell", async () => {
    const root = tempDir();
    writeFileSync(join(root, "$(a) 'b'"), "", { mode: 0o755 });
    expect(await programs.find("$(a) 'b'", root, "/")).toBe(join(root, "$(a) 'b'"));
  });
});
