import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { writeIn } from "../../../support/git-repository.ts";
import { failure, filesBelow, worktreeWorld } from "./worktree-world.ts";

/** Folder that is a file system of its own; `broken` ends the process's work at the rename to such a name. */
const disk = vi.hoisted(() => ({ folder: "", broken: "" }));

vi.mock(import("node:fs/promises"), async (original) => {
  const real = await original();
  const rename: typeof real.rename = async (from, to) => {
    const [isFrom, isTo] = [from, to].map((path) => `${path}/`.startsWith(`${disk.folder}/`));
    if (disk.folder !== "" && isFrom !== isTo) throw Object.assign(new Error("EXDEV"), { code: "EXDEV" });
    if (disk.broken !== "" && String(to).endsWith(disk.broken)) throw new Error("killed here");
    return real.rename(from, to);
  };
  return { ...real, rename };
});

/** One project's folder is on another file system than all else. */
async function onItsOwn() {
  const world = worktreeWorld();
  const { path } = await world.workspace.create(world.spec());
  disk.folder = join(world.managedRoot, "app");
  disk.broken = "";
  const trash = join(disk.folder, ".trash");
  return { ...world, path, trash };
}

test("a worktree on its own file system is freed by a rename there, and its files are swept", async () => {
  const { workspace, spec, repository, path, trash } = await onItsOwn();
  await workspace.destroy(spec());
  expect([existsSync(path), repository.worktrees()]).toEqual([false, [repository.path]]);
  expect(filesBelow(trash)[0]).toMatch(/^app-1\.\d+\.[0-9a-f-]+\.gone$/);
  expect(await workspace.inspect(spec())).toEqual([]);
  expect((await workspace.sweepTrash()).deleted).toBe(1);
  expect(filesBelow(trash)).toEqual([]);
});

test("one with work stays at its place, whatever was moved meanwhile", async () => {
  const { workspace, spec, path, trash } = await onItsOwn();
  writeIn(path, "notes.txt", "mine");
  await failure(workspace.destroy(spec()), "workspace_dirty");
  expect(readFileSync(join(path, "notes.txt"), "utf8")).toBe("mine");
  expect(filesBelow(trash)).toEqual([]);
});

test.each([".going", ".gone"])(
  "a removal there that is broken off before %s is finished by the next",
  async (name) => {
    const { workspace, spec, repository, path, trash } = await onItsOwn();
    disk.broken = name;
    await workspace.destroy(spec()).catch(() => undefined);
    expect([existsSync(path), filesBelow(trash).length > 0]).toEqual([false, true]);
    disk.broken = "";
    expect((await workspace.marked()).map(({ ref }) => ref.sessionId)).toEqual(
      name === ".gone" ? [] : ["app-1"],
    );
    await workspace.destroy(spec());
    await workspace.sweepTrash();
    expect([repository.worktrees(), filesBelow(trash)]).toEqual([[repository.path], []]);
  },
);
