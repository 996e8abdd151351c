import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decideProbe, type ProbeVerdict } from "../../../src/domain/decide-probe.ts";
import type { ProcessFact, RuntimeFact } from "../../../src/domain/facts.ts";
import { anyProcessFact, anyRuntimeFact } from "./arbitraries.ts";

const RUNTIMES = {
  alive: { kind: "alive", lastOutputAtMs: null },
  exited: { kind: "exited", exitStatus: 0, signal: null },
  missing: { kind: "missing" },
  unknown: { kind: "unknown" },
  probe_failed: { kind: "probe_failed", cause: "no answer" },
} as const satisfies Record<RuntimeFact["kind"], RuntimeFact>;

const PROCESSES = {
  alive: { kind: "alive" },
  dead: { kind: "dead" },
  "dead with its boot": { kind: "dead", ofAnotherBoot: true },
  indeterminate: { kind: "indeterminate" },
  probe_failed: { kind: "probe_failed", cause: "no answer" },
} as const satisfies Record<ProcessFact["kind"] | "dead with its boot", ProcessFact>;

const PROBE_FAILED: ProbeVerdict = { state: "detecting", reason: "probe_failure" };
const AGENT_EXITED: ProbeVerdict = { state: "detecting", reason: "agent_process_exited" };
const WORKING: ProbeVerdict = { state: "working", reason: "task_in_progress" };
const LOST: ProbeVerdict = { state: "detecting", reason: "runtime_lost" };
const DEAD: ProbeVerdict = { state: "terminated", reason: "runtime_lost" };

type Row = readonly [
  runtime: keyof typeof RUNTIMES,
  process: keyof typeof PROCESSES,
  whenRecentlyActive: ProbeVerdict,
  whenNot: ProbeVerdict,
];

const TABLE: readonly Row[] = [
  ["alive", "alive", WORKING, WORKING],
  ["alive", "dead", AGENT_EXITED, AGENT_EXITED],
  ["alive", "dead with its boot", AGENT_EXITED, AGENT_EXITED],
  ["alive", "indeterminate", WORKING, WORKING],
  ["alive", "probe_failed", PROBE_FAILED, PROBE_FAILED],
  ["exited", "alive", LOST, LOST],
  ["exited", "dead", LOST, DEAD],
  ["exited", "dead with its boot", DEAD, DEAD],
  ["exited", "indeterminate", LOST, LOST],
  ["exited", "probe_failed", PROBE_FAILED, PROBE_FAILED],
  ["missing", "alive", LOST, LOST],
  ["missing", "dead", LOST, DEAD],
  ["missing", "dead with its boot", DEAD, DEAD],
  ["missing", "indeterminate", LOST, LOST],
  ["missing", "probe_failed", PROBE_FAILED, PROBE_FAILED],
  ["unknown", "alive", LOST, LOST],
  ["unknown", "dead", LOST, LOST],
  ["unknown", "dead with its boot", LOST, LOST],
  ["unknown", "indeterminate", LOST, LOST],
  ["unknown", "probe_failed", PROBE_FAILED, PROBE_FAILED],
  ["probe_failed", "alive", PROBE_FAILED, PROBE_FAILED],
  ["probe_failed", "dead", PROBE_FAILED, PROBE_FAILED],
  ["probe_failed", "dead with its boot", PROBE_FAILED, PROBE_FAILED],
  ["probe_failed", "indeterminate", PROBE_FAILED, PROBE_FAILED],
  ["probe_failed", "probe_failed", PROBE_FAILED, PROBE_FAILED],
];

describe("decideProbe", () => {
  test.each(TABLE)("runtime %s with process %s", (runtime, process, whenRecentlyActive, whenNot) => {
    const look = { runtime: RUNTIMES[runtime], process: PROCESSES[process], killRequested: false };
    expect(decideProbe({ ...look, recentlyActive: true })).toEqual(whenRecentlyActive);
    expect(decideProbe({ ...look, recentlyActive: false })).toEqual(whenNot);
  });

  test("a requested kill ends the session whatever was seen", () => {
    fc.assert(
      fc.property(anyRuntimeFact, anyProcessFact, fc.boolean(), (runtime, process, recentlyActive) => {
        expect(decideProbe({ runtime, process, recentlyActive, killRequested: true })).toEqual({
          state: "terminated",
          reason: "manually_killed",
        });
      }),
    );
  });

  test("death is concluded only from a runtime that is gone, a dead process and silence or another boot", () => {
    fc.assert(
      fc.property(anyRuntimeFact, anyProcessFact, fc.boolean(), (runtime, process, recentlyActive) => {
        const isGone = runtime.kind === "exited" || runtime.kind === "missing";
        const isOver = process.kind === "dead" && (process.ofAnotherBoot === true || !recentlyActive);
        const isDead = isGone && isOver;
        const verdict = decideProbe({ runtime, process, recentlyActive, killRequested: false });
        expect(verdict.state === "terminated").toBe(isDead);
      }),
    );
  });
});
