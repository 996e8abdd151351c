import { expect, test } from "vitest";
import { describeExit, exitSeen } from "../../../src/domain/agent-exit.ts";
import type { RuntimeFact } from "../../../src/domain/facts.ts";

test.each<[string, RuntimeFact, string | null]>([
  ["a status", { kind: "exited", exitStatus: 3, signal: null }, "exit 3"],
  ["a status of 0", { kind: "exited", exitStatus: 0, signal: null, atMs: 1000 }, "exit 0"],
  ["a signal", { kind: "exited", exitStatus: null, signal: "SIGKILL" }, "SIGKILL"],
  ["nothing yet", { kind: "exited", exitStatus: null, signal: null }, null],
  ["life", { kind: "alive", lastOutputAtMs: null }, null],
  ["nothing there", { kind: "missing" }, null],
  ["nobody knows", { kind: "unknown" }, null],
  ["no look", { kind: "probe_failed", cause: "x" }, null],
])("of a runtime that tells %s", (_what, runtime, expected) => {
  const exit = exitSeen(runtime);
  expect(exit && describeExit(exit)).toBe(expected);
});

test("the time of an ending is what the runtime says, and nothing else", () => {
  expect(exitSeen({ kind: "exited", exitStatus: 1, signal: null, atMs: 5000 })?.atMs).toBe(5000);
  expect(exitSeen({ kind: "exited", exitStatus: 1, signal: null })?.atMs).toBeNull();
});
