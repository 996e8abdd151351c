import { fstatSync, lstatSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { gitRunner } from "../../../../../src/adapters/worktree/run-git.ts";
import { makeRef } from "../../../../../src/adapters/worktree/salvage/ao-commit.ts";
import { plumbingAt } from "../../../../../src/adapters/worktree/salvage/plumbing.ts";
import { GIT_ENV, gitRepository } from "../../../../support/git-repository.ts";

/** The inodes of all that is put on the disk from now on. */
async function syncedInodes(): Promise<ReadonlySet<number>> {
  const handle = await open("/");
  const synced = new Set<number>();
  const spy = vi.spyOn(Object.getPrototypeOf(handle) as FileHandle, "sync");
  await handle.close();
  spy.mockImplementation(async function (this: FileHandle) {
    synced.add(fstatSync(this.fd).ino);
  });
  onTestFinished(() => spy.mockRestore());
  return synced;
}

test("a ref is on the disk when it is made: its file, the folders around it, and the packs it names", async () => {
  const repository = gitRepository();
  const commonDir = join(repository.path, ".git");
  const plumbing = plumbingAt(gitRunner({ env: GIT_ENV }), { gitDir: commonDir, commonDir, root: null });
  const ref = "refs/ao/salvage/app-1/1";
  const synced = await syncedInodes();
  expect(await makeRef(plumbing, ref, repository.git("rev-parse", "HEAD"))).toBe(true);
  const file = join(commonDir, ref);
  const packs = join(commonDir, "objects", "pack");
  const missing = [file, dirname(file), dirname(dirname(file)), packs].filter(
    (path) => !synced.has(lstatSync(path).ino),
  );
  expect(missing).toEqual([]);
});
