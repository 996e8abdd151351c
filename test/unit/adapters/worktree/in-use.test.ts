import { join } from "node:path";
import { expect, test } from "vitest";
import { inUse } from "../../../../src/adapters/worktree/in-use.ts";
import type { ProcessUse } from "../../../../src/ports/process-table.ts";
import { tempDir } from "../../../support/temp-dir.ts";

/** A process table that sees `use` at the first look, and at each later one when it stays. */
function tableSeeing(use: ProcessUse, { stays }: { readonly stays: boolean }) {
  let looks = 0;
  const usersOf = async (): Promise<readonly ProcessUse[]> => {
    looks += 1;
    return stays || looks === 1 ? [use] : [];
  };
  return { usersOf };
}

const inside = (folder: string, name: string) => (name === "" ? folder : join(folder, name));

test.each([
  ["a git that looks", "/usr/bin/git", ""],
  ["an ao that reads where its .git leads to", "node", ".git"],
])("%s is waited for, and in the way only when it stays", async (_who, command, name) => {
  const folder = tempDir();
  const use = { pid: 7, command, paths: [inside(folder, name)] };
  expect(await inUse({ processes: tableSeeing(use, { stays: false }) }, folder)).toEqual({ in_use: [] });
  const found = await inUse({ processes: tableSeeing(use, { stays: true }) }, folder);
  expect(found).toEqual({ in_use: [expect.stringContaining("7")] });
});

test.each([
  ["works in it", ["", ".git"]],
  ["has a file of it open", ["notes.txt"]],
])("a program that %s is in the way at once", async (_what, names) => {
  const folder = tempDir();
  const use = { pid: 7, command: "node", paths: names.map((name) => inside(folder, name)) };
  const found = await inUse({ processes: tableSeeing(use, { stays: false }) }, folder);
  expect(found).toEqual({ in_use: [expect.stringContaining("7 node")] });
});
