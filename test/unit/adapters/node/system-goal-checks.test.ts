import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { systemGoalChecks } from "../../../../src/adapters/node/system-goal-checks.ts";
import type { GoalCheckRun } from "../../../../src/ports/goal-check.ts";
import { tempDir } from "../../../support/temp-dir.ts";

const run = (command: string, overrides: Partial<GoalCheckRun> = {}) =>
  systemGoalChecks().run({
    ...{ command, cwd: tempDir(), env: { PATH: "/usr/bin:/bin", WHO: "me" } },
    ...{ timeoutMs: 20_000, maxChars: 100 },
    ...overrides,
  });

test.each([
  ["its exit code", "exit 3", { kind: "ended", exitCode: 3, output: "", isCut: false }],
  ["both outputs", "echo out; sleep 0.1; echo err >&2", { exitCode: 0, output: "out\nerr\n" }],
  ["its environment alone", 'echo "$WHO,$HOME"', { output: "me,\n" }],
  ["that a signal ended it", "kill -9 $$", { kind: "broken_off", why: "it was ended by SIGKILL" }],
  ["a syntax error as its failure", "if", { kind: "ended", exitCode: 2 }],
  ["what begins with - as a command", "-x 'a b'", { kind: "ended", exitCode: 127 }],
  ["that there is nothing to read", 'test -z "$(cat)"', { exitCode: 0 }],
])("a command tells %s", async (_what, command, expected) => {
  expect(await run(command)).toMatchObject(expected);
});

test("the end of a long output is kept", async () => {
  const result = await run("i=0; while [ $i -lt 200 ]; do echo line $i; i=$((i+1)); done");
  expect(result).toMatchObject({ kind: "ended", isCut: true });
  if (result.kind !== "ended") throw new Error("it was not run");
  expect(result.output).toHaveLength(100);
  expect(result.output.endsWith("line 199\n")).toBe(true);
});

test("a command whose time is up is ended with all that it started", async () => {
  const cwd = tempDir();
  const result = await run("echo $$ > pid; (sleep 600 & echo $! > child); echo begun; sleep 600", {
    cwd,
    timeoutMs: 700,
  });
  expect(result).toMatchObject({
    kind: "broken_off",
    why: "it was ended because its time was up",
    output: "begun\n",
  });
  for (const name of ["pid", "child"]) {
    const pid = readFileSync(join(cwd, name), "utf8").trim();
    await vi.waitFor(() => expect(isRunning(pid)).toBe(false), 5_000);
  }
});

/** A zombie that nobody has collected yet runs no more. */
function isRunning(pid: string): boolean {
  const path = `/proc/${pid}/stat`;
  return existsSync(path) && !/\) Z /.test(readFileSync(path, "utf8"));
}

test("what a command leaves in the background does not hold up its answer", async () => {
  expect(await run("sleep 20 & echo done")).toMatchObject({ kind: "ended", exitCode: 0, output: "done\n" });
});

test("that it could not be run is an answer", async () => {
  expect(await run("true", { cwd: "/nowhere" })).toMatchObject({ kind: "not_run" });
});
