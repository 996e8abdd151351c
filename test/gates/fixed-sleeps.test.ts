import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const TESTS = join(import.meta.dirname, "..");

/** Where time may pass in a test, and why that decides nothing. */
const ALLOWED: Readonly<Record<string, string>> = {
  "agents/agent-world.ts": "polls",
  "agents/model/model-server.ts": "a model that speaks word by word",
  "bench/row-process.ts": "the end of a row that takes too long",
  "conformance/goals/stack-host.ts": "polls",
  "contract/locks.contract.ts": "lets others in between, if the lock does",
  "crash/many-processes.crash.ts": "looks over and over",
  "gates/fixed-sleeps.test.ts": "this",
  "support/stub-agents.ts": "the end of a program that a test forgot",
  "support/worktree-states/file-states.ts": "polls",
  "unit/adapters/locks/file-locks.test.ts": "lets others in between, if the lock does",
  "unit/adapters/tmux/create.test.ts": "a program that stays",
};

const SLEEP = /\bsetTimeout\(|node:timers\/promises/;

function sleeping(): readonly string[] {
  const names = readdirSync(TESTS, { recursive: true, encoding: "utf8" });
  return names
    .filter((name) => name.endsWith(".ts") && SLEEP.test(readFileSync(join(TESTS, name), "utf8")))
    .sort();
}

test("no test sleeps for a fixed time: where one lets time pass is known, with the reason", () => {
  expect(sleeping()).toEqual(Object.keys(ALLOWED).sort());
});

test.each([
  ["await new Promise((resolve) => setTimeout(resolve, 300));", true],
  ["setTimeout(() => rmSync(lock), 100);", true],
  ['import { setTimeout as sleep } from "node:timers/promises";', true],
  ["await expect.poll(() => existsSync(reached)).toBe(true);", false],
  ["await clock.sleep(20);", false],
])("%s is found: %s", (line, isFound) => {
  expect(SLEEP.test(line)).toBe(isFound);
});
