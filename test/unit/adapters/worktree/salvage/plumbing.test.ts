import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { expect, onTestFinished, test } from "vitest";
import { gitRunner } from "../../../../../src/adapters/worktree/run-git.ts";
import { plumbingAt } from "../../../../../src/adapters/worktree/salvage/plumbing.ts";
import { type ReadObject, readObjects } from "../../../../../src/adapters/worktree/salvage/read-objects.ts";
import { tempDir } from "../../../../support/temp-dir.ts";
import { isRunning } from "../../../../support/tmux-server.ts";

/** A git that does as a script says, and where it writes down the pid of what it leaves behind. */
function plumbingOf(script: string, timeoutMs: number) {
  const folder = tempDir("ao-plumbing");
  const gitPath = join(folder, "git");
  const pidFile = join(folder, "pid");
  writeFileSync(gitPath, `#!/bin/sh\npid_file='${pidFile}'\n${script}\n`);
  chmodSync(gitPath, 0o755);
  const childPid = () => Number(readFileSync(pidFile, "utf8"));
  onTestFinished(() => {
    if (isRunning(childPid())) process.kill(childPid(), "SIGKILL");
  });
  const place = { gitDir: folder, commonDir: folder, root: null };
  return { plumbing: plumbingAt(gitRunner({ gitPath }), place, timeoutMs), childPid };
}

/** As a filter does that hangs: it keeps the output open. */
const LEFT_CHILD = `sleep 300 & echo $! > "$pid_file"; echo some;`;

test.each([
  ["hangs itself", `${LEFT_CHILD} wait`],
  ["has ended", LEFT_CHILD],
])("a child that keeps the output of a git that %s is ended with it in time", async (_what, script) => {
  const { plumbing, childPid } = plumbingOf(script, 500);
  const git = plumbing.start(["cat-file", "--batch"], "");
  let said = "";
  for await (const chunk of git.output) said += Buffer.from(chunk).toString();
  expect(said).toBe("some\n");
  await expect(git.done("read")).rejects.toMatchObject({ code: "git_unavailable" });
  await expect.poll(() => isRunning(childPid())).toBe(false);
});

test("a git that goes on speaking is not cut off, however long it takes", async () => {
  const { plumbing } = plumbingOf(
    'echo 999999999 > "$pid_file"; for i in 1 2 3 4 5 6; do echo $i; sleep 0.2; done',
    800,
  );
  const git = plumbing.start(["cat-file", "--batch"], "");
  let said = "";
  for await (const chunk of git.output) said += Buffer.from(chunk).toString();
  expect(said).toBe("1\n2\n3\n4\n5\n6\n");
  await expect(git.done("read")).resolves.toBeUndefined();
});

/** As `git cat-file --batch` does with a big blob: it writes on until nobody takes it. */
const BIG_OBJECT = `echo $$ > "$pid_file"; read oid; echo "$oid blob 50000000"; exec head -c 50000000 /dev/zero`;

async function throwAtOnce({ chunks }: ReadObject): Promise<void> {
  for await (const _chunk of chunks) throw new Error("no space");
}

async function fillDisk({ chunks }: ReadObject): Promise<void> {
  const disk = new Writable({ write: (_chunk, _encoding, done) => done(new Error("no space")) });
  await pipeline(chunks, disk);
}

async function leaveAlone(): Promise<void> {
  throw new Error("no space");
}

test.each([
  ["throws at its first chunk", throwAtOnce],
  ["has no space to write it", fillDisk],
  ["throws before it reads", leaveAlone],
])("git is ended when who reads a big object %s", async (_what, onObject) => {
  const { plumbing, childPid } = plumbingOf(BIG_OBJECT, 600_000);
  await expect(readObjects(plumbing, ["a1b2"], onObject)).rejects.toThrow("no space");
  expect(isRunning(childPid())).toBe(false);
});

test("a git that says nothing more is ended, with what it started, when its reader leaves", async () => {
  const { plumbing, childPid } = plumbingOf(`${LEFT_CHILD} wait`, 600_000);
  const git = plumbing.start(["cat-file", "--batch"], "");
  for await (const _chunk of git.output) break;
  await expect(git.done("read")).rejects.toMatchObject({ code: "git_unavailable" });
  await expect.poll(() => isRunning(childPid())).toBe(false);
});

test("a git that does not heed TERM is killed when its reader leaves while it waits for more", async () => {
  const { plumbing, childPid } = plumbingOf(
    `trap '' TERM; echo $$ > "$pid_file"; echo some; while :; do sleep 0.1; done`,
    600_000,
  );
  const chunks = plumbing.start(["cat-file", "--batch"], "").output[Symbol.asyncIterator]();
  await chunks.next();
  const more = chunks.next();
  await chunks.return?.();
  await expect(more).resolves.toMatchObject({ done: true });
  expect(isRunning(childPid())).toBe(false);
});
