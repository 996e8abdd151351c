import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, test } from "vitest";
import { removeTree } from "../../../../src/adapters/worktree/remove-tree.ts";
import { sweepTrash } from "../../../../src/adapters/worktree/sweep-trash.ts";
import { trashOf } from "../../../../src/adapters/worktree/trash.ts";
import type { SessionId } from "../../../../src/domain/ids.ts";
import { writeIn } from "../../../support/git-repository.ts";
import { filesBelow, worktreeWorld } from "./worktree-world.ts";

const NAME = "app-1.1700000000000.6c1d.gone";

describe("sweepTrash", () => {
  test("deletes what was judged, however young, from both folders", async () => {
    const { workspace, trashDir, managedRoot } = worktreeWorld();
    writeIn(join(trashDir, NAME), "a/b/c.txt", "x");
    writeIn(join(managedRoot, ".trash", `app-2.${Date.now()}.77.gone`), "a.txt", "x");
    expect((await workspace.sweepTrash()).deleted).toBe(2);
    expect([readdirSync(trashDir), readdirSync(join(managedRoot, ".trash"))]).toEqual([[], []]);
  });

  test("leaves one that is still being judged, and what is not ours", async () => {
    const { workspace, trashDir } = worktreeWorld();
    writeIn(join(trashDir, "app-1.held"), "notes.txt", "mine");
    writeIn(trashDir, "readme.txt", "mine");
    expect((await workspace.sweepTrash()).deleted).toBe(0);
    expect(filesBelow(trashDir)).toEqual(["app-1.held", "app-1.held/notes.txt", "readme.txt"]);
  });

  test("deletes files and folders whose names are no text", async () => {
    const { workspace, trashDir } = worktreeWorld();
    const bytes = (name: string) => Buffer.from(`${join(trashDir, NAME)}/${name}`, "latin1");
    mkdirSync(bytes("folder\xfe"), { recursive: true });
    for (const name of ["bad\xff", "folder\xfe/inner\xff"]) writeFileSync(bytes(name), "x");
    expect((await workspace.sweepTrash()).deleted).toBe(1);
    expect(readdirSync(trashDir)).toEqual([]);
  });

  test("names what resists by where it is, and deletes the rest", async () => {
    const { trashDir, managedRoot } = worktreeWorld();
    const trash = trashOf(trashDir, managedRoot, "/dev/null");
    const [resisting, other] = [join(trashDir, NAME), join(trashDir, NAME.replace("app-1", "app-2"))];
    for (const path of [resisting, other]) writeIn(path, "a/b/c.txt", "x");
    const refusing = async (path: string) => {
      if (basename(path).startsWith("app-1.")) throw new Error("EPERM: operation not permitted");
      await removeTree(path);
    };
    const left = [{ path: resisting, why: "EPERM: operation not permitted" }];
    expect(await sweepTrash(trash, refusing)).toEqual({ deleted: 1, left });
    expect(await sweepTrash(trash, refusing)).toEqual({ deleted: 0, left });
    expect(filesBelow(trashDir)).toContain(`${NAME}/a/b/c.txt`);
    expect(await sweepTrash(trash)).toEqual({ deleted: 1, left: [] });
  });

  test("names one that git may still know and that cannot be judged", async () => {
    const { trashDir, managedRoot } = worktreeWorld();
    const going = join(trashDir, "app-1.1700000000000.going");
    mkdirSync(join(going, ".git"), { recursive: true });
    const { left } = await sweepTrash(trashOf(trashDir, managedRoot, "/dev/null"));
    expect(left).toEqual([{ path: going, why: expect.stringContaining("another repository is there") }]);
  });

  test("follows no link", async () => {
    const { workspace, trashDir, dataDir } = worktreeWorld();
    writeIn(join(dataDir, "mine"), "notes.txt", "mine");
    mkdirSync(join(trashDir, NAME), { recursive: true });
    symlinkSync(join(dataDir, "mine"), join(trashDir, NAME, "link"));
    expect((await workspace.sweepTrash()).deleted).toBe(1);
    expect(readFileSync(join(dataDir, "mine", "notes.txt"), "utf8")).toBe("mine");
  });

  test("many at once, while worktrees are freed, disturb nobody and leave nothing", async () => {
    const { workspace, spec, trashDir, repository } = worktreeWorld();
    for (let at = 0; at < 200; at += 1) writeIn(repository.path, `d${at % 7}/f${at}`, "x");
    repository.git("add", ".");
    repository.git("commit", "-qm", "many");
    const specs = [1, 2, 3, 4].map((at) => spec({ sessionId: `app-${at}` as SessionId, branch: `b${at}` }));
    for (const one of specs) await workspace.create(one);
    for (let at = 0; at < 20; at += 1) writeIn(join(trashDir, NAME.replace("6c1d", `${at}`)), "a/b.txt", "x");
    let isDone = false;
    const sweeping = [1, 2, 3].map(async () => {
      while (!isDone) await workspace.sweepTrash();
    });
    await Promise.all(specs.map((one) => workspace.destroy(one)));
    isDone = true;
    await Promise.all(sweeping);
    await workspace.sweepTrash();
    expect((await workspace.sweepTrash()).deleted).toBe(0);
    expect(readdirSync(trashDir)).toEqual([]);
    expect(specs.some(({ path }) => existsSync(path))).toBe(false);
  });
});
