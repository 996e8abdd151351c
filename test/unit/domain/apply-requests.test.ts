import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  completeSpawn,
  KILL_REASONS,
  type KillReason,
  reopenForRestore,
  requestKill,
} from "../../../src/domain/apply-requests.ts";
import { initialLifecycle, isTerminal } from "../../../src/domain/lifecycle.ts";
import { deriveStatus, type Status } from "../../../src/domain/status.ts";
import { aKilledLifecycle, aLifecycle, aWorkingLifecycle, T0_MS } from "../../support/builders.ts";
import { anyLifecycle } from "./arbitraries.ts";

describe("initialLifecycle", () => {
  test("is spawning, with everything else unknown", () => {
    expect(initialLifecycle()).toEqual({
      version: 1,
      revision: 1,
      session: { state: "not_started", reason: "spawn_requested" },
      pr: { state: "none", reason: "not_created", number: null, url: null },
      runtime: { state: "unknown", reason: "spawn_incomplete" },
      activity: { state: null, lastActivityAtMs: null, source: "none" },
      detecting: null,
    });
    expect(deriveStatus(initialLifecycle())).toBe("spawning");
  });
});

describe("completeSpawn", () => {
  test("writes the runtime and leaves the session to its agent's first sign", () => {
    const before = aLifecycle();
    const after = completeSpawn(before);
    expect(after).toEqual({ ...before, runtime: { state: "alive", reason: "process_running" } });
    expect(deriveStatus(after)).toBe("spawning");
    expect(completeSpawn(after)).toBe(after);
  });
});

describe("requestKill", () => {
  test.each<[KillReason, object, object, Status]>([
    [
      "manual",
      { state: "terminated", reason: "manually_killed" },
      { state: "exited", reason: "manual_kill_requested" },
      "killed",
    ],
    [
      "cleanup",
      { state: "terminated", reason: "auto_cleanup" },
      { state: "exited", reason: "auto_cleanup" },
      "cleanup",
    ],
    [
      "error",
      { state: "terminated", reason: "error_in_process" },
      { state: "exited", reason: "probe_error" },
      "errored",
    ],
  ])("for the reason %s", (reason, session, runtime, status) => {
    const detecting = { attempts: 1, startedAtMs: T0_MS, evidenceHash: "x" };
    const before = aWorkingLifecycle({ detecting });
    const after = requestKill(before, reason);
    expect(after).toEqual({ ...before, session, runtime, detecting: null });
    expect(deriveStatus(after)).toBe(status);
  });

  test("a session that is over keeps how it ended", () => {
    fc.assert(
      fc.property(anyLifecycle.filter(isTerminal), fc.constantFrom(...KILL_REASONS), (lifecycle, reason) => {
        expect(requestKill(lifecycle, reason)).toBe(lifecycle);
      }),
    );
  });

  test("any other session is over", () => {
    fc.assert(
      fc.property(anyLifecycle, fc.constantFrom(...KILL_REASONS), (lifecycle, reason) => {
        expect(isTerminal(requestKill(lifecycle, reason))).toBe(true);
      }),
    );
  });
});

describe("reopenForRestore", () => {
  test("begins a killed session anew, without its pull request and its last wait", () => {
    const before = aKilledLifecycle({
      revision: 7,
      pr: { state: "merged", reason: "merged", number: 9, url: "u" },
      activity: { state: "waiting_input", lastActivityAtMs: T0_MS, source: "hook" },
    });
    const after = reopenForRestore(before);
    expect(after).toEqual({
      version: 1,
      revision: 7,
      session: { state: "not_started", reason: "spawn_requested" },
      pr: { state: "none", reason: "cleared_on_restore", number: null, url: null },
      runtime: { state: "unknown", reason: "spawn_incomplete" },
      activity: { state: null, lastActivityAtMs: T0_MS, source: "none" },
      detecting: null,
    });
    expect(deriveStatus(after)).toBe("spawning");
  });

  test("reopens every session that is over, and leaves every other as it is", () => {
    fc.assert(
      fc.property(anyLifecycle, (lifecycle) => {
        const after = reopenForRestore(lifecycle);
        expect(isTerminal(after)).toBe(false);
        if (!isTerminal(lifecycle)) expect(after).toBe(lifecycle);
      }),
    );
  });
});
