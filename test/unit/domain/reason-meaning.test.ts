import { expect, test } from "vitest";
import { SESSION_REASONS, SESSION_STATES } from "../../../src/domain/lifecycle.ts";
import { meaningOf } from "../../../src/domain/reason-meaning.ts";

const DONE = { status: 0, signal: null };
const SHOT = { status: null, signal: "SIGKILL" };

test.each([
  ["terminated", "runtime_lost", DONE, "ao did not end it: its agent ended by itself, with status 0"],
  ["terminated", "runtime_lost", SHOT, "ao did not end it: its agent was ended by SIGKILL"],
  ["terminated", "runtime_lost", null, "ao did not end it: its agent was found gone, with its terminal"],
  ["detecting", "runtime_lost", null, "its terminal is not there, and nothing proves its agent dead"],
  ["stuck", "agent_process_exited", DONE, "its agent has ended, and its terminal is there"],
  ["idle", "research_complete", null, "its agent rests after what it was asked"],
  ["detecting", "probe_failure", null, "it could not be looked at, so nothing is known of it now"],
  ["working", "task_in_progress", null, null],
  ["terminated", "manually_killed", SHOT, null],
  ["idle", null, null, null],
] as const)("%s (%s) of an agent that ended with %j means: %s", (state, reason, exit, meaning) => {
  expect(meaningOf({ state, reason }, exit)).toBe(meaning);
});

test("only an ended session is said to have been ended, and never one that a command ended", () => {
  for (const state of SESSION_STATES) {
    for (const reason of SESSION_REASONS) {
      const saysEnded = meaningOf({ state, reason }, DONE)?.startsWith("ao did not end it") === true;
      const isInferred = reason === "runtime_lost" || reason === "agent_process_exited";
      expect(saysEnded).toBe(state === "terminated" && isInferred);
    }
  }
});
