import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { gitRunner } from "../../../../../src/adapters/worktree/run-git.ts";
import { plumbingAt } from "../../../../../src/adapters/worktree/salvage/plumbing.ts";
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
