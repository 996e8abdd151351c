import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { memoryClock } from "../../../src/adapters/memory/clock.ts";
import { memoryIds } from "../../../src/adapters/memory/ids.ts";
import { memoryStore } from "../../../src/adapters/memory/store.ts";
import type { ActivitySignal, RuntimeObservation } from "../../../src/domain/facts.ts";
import { ACTIVITY_STATES } from "../../../src/domain/lifecycle.ts";
import type { SessionRecord } from "../../../src/domain/session.ts";
import { type LifecycleManager, lifecycleManager } from "../../../src/lifecycle/lifecycle-manager.ts";
import type { SessionStore } from "../../../src/ports/session-store.ts";
import type { Store } from "../../../src/ports/store.ts";
import {
  aKilledSession,
  anActivitySignal,
  anObservation,
  anOpenPullRequest,
  aProcess,
  aRuntimeHandle,
  aSession,
  aWorkingLifecycle,
  launchId,
  sessionId,
  T0_MS,
} from "../../support/builders.ts";

const ID = sessionId("app-1");
const LAUNCH = launchId("launch-1");
const GONE: RuntimeObservation = { runtime: { kind: "missing" }, process: { kind: "dead" } };
const STARTED = { handle: aRuntimeHandle({ id: "$9" }), process: aProcess({ pid: 99_000_009 }) };

function aManager(record?: SessionRecord, store: Store = memoryStore()) {
  const clock = memoryClock(T0_MS + 500_000);
  const { sessions, changes } = store;
  if (record !== undefined) sessions.insert(record);
  const manager = lifecycleManager({ store: sessions, changes, clock, ids: memoryIds() });
  const row = () => sessions.get(ID);
  const told = () => changes.after(0, 1_000);
  return { manager, store, clock, row, told };
}

const look = (manager: LifecycleManager, observation: RuntimeObservation) =>
  manager.observeFacts(ID, [{ kind: "look", launchId: LAUNCH, observation }]);
const hear = (manager: LifecycleManager, signal: ActivitySignal) =>
  manager.observeFacts(ID, [{ kind: "activity", signal }]);
const name = (manager: LifecycleManager, agentSessionId: string) =>
  manager.observeFacts(ID, [{ kind: "conversation", launchId: LAUNCH, agentSessionId }]);

describe("every change", () => {
  test("grows the revision by one and dates the row", () => {
    const { manager, row, clock } = aManager(aSession());
    const change = hear(manager, anActivitySignal());
    expect(change?.changed).toBe(true);
    expect(row()).toEqual(change?.record);
    expect(row()).toMatchObject({ updatedAtMs: clock.nowMs(), lifecycle: { revision: 2 } });
  });

  test("writes nothing when nothing changed", () => {
    const { manager, row } = aManager(aSession());
    hear(manager, anActivitySignal());
    const before = row();
    expect(hear(manager, anActivitySignal())?.changed).toBe(false);
    expect(look(manager, anObservation())?.changed).toBe(false);
    expect(row()).toEqual(before);
  });

  test("never dates a row back when the clock jumps", () => {
    const { manager, row, clock } = aManager(aSession({ updatedAtMs: T0_MS + 900_000 }));
    clock.advance(-400_000);
    manager.onKillRequested(ID, "manual", null);
    expect(row()?.updatedAtMs).toBe(T0_MS + 900_000);
  });

  test("is decided again when another writer was faster", () => {
    const store = memoryStore();
    store.sessions.insert(aSession());
    const { manager: other } = aManager(undefined, store);
    let races = 1;
    const contested: SessionStore = {
      ...store.sessions,
      // The row moves between the read and the save, as with a store whose transactions do not exclude.
      transaction: (work) => work(),
      get(id) {
        const read = store.sessions.get(id);
        if (races-- > 0) hear(other, anActivitySignal());
        return read;
      },
    };
    const { manager, row, told } = aManager(undefined, { ...store, sessions: contested });
    manager.observePullRequest(ID, anOpenPullRequest());
    expect(row()?.lifecycle).toMatchObject({
      revision: 3,
      session: { state: "working" },
      pr: { state: "open", number: 9 },
    });
    expect(told().map(({ data }) => data)).toMatchObject([{ revision: 2 }, { revision: 3 }]);
  });

  test("gives up with store_busy when it loses every race", () => {
    const store = memoryStore();
    store.sessions.insert(aSession());
    const sessions = { ...store.sessions, save: () => false };
    const { manager, told } = aManager(undefined, { ...store, sessions });
    expect(() => hear(manager, anActivitySignal())).toThrow(expect.objectContaining({ code: "store_busy" }));
    expect(told()).toEqual([]);
  });

  test.each([
    ["a kill", (m: LifecycleManager) => m.onKillRequested(ID, "manual", null)],
    ["a look", (m: LifecycleManager) => look(m, GONE)],
    ["a signal", (m: LifecycleManager) => hear(m, anActivitySignal())],
    ["a pull request", (m: LifecycleManager) => m.observePullRequest(ID, anOpenPullRequest())],
    ["a freed worktree", (m: LifecycleManager) => m.onWorkspaceFreed(ID)],
    ["a conversation", (m: LifecycleManager) => name(m, "c")],
  ])("%s of an unknown session is ignored", (_name, act) => {
    const { manager, store, told } = aManager();
    expect(act(manager)).toBeUndefined();
    expect(store.sessions.list()).toEqual([]);
    expect(told()).toEqual([]);
  });
});

describe("the change log", () => {
  const JUST_STARTED = {
    status: "spawning",
    session: "not_started",
    runtime: "alive",
    pr: "none",
    activity: null,
    workspaceFreed: false,
  };

  test("tells of a session that was added", () => {
    const { manager, told, clock } = aManager();
    manager.onSpawnInitiated(aSession());
    expect(told()).toEqual([
      {
        sequence: 1,
        atMs: clock.nowMs(),
        projectId: "app",
        sessionId: ID,
        type: "session.created",
        data: { from: null, to: JUST_STARTED, revision: 1, reason: "spawn_requested" },
      },
    ]);
  });

  test("tells of every change from what to what, and why", () => {
    const { manager, told, clock } = aManager(aSession());
    hear(manager, anActivitySignal());
    clock.advance(1_000);
    manager.onKillRequested(ID, "manual", null);
    manager.onWorkspaceFreed(ID);
    const working = { ...JUST_STARTED, status: "working", session: "working", activity: "active" };
    const killed = { ...working, status: "killed", session: "terminated", runtime: "exited" };
    const change = { projectId: "app", sessionId: ID, type: "session.changed" };
    expect(told()).toEqual([
      {
        ...{ ...change, sequence: 1, atMs: clock.nowMs() - 1_000 },
        data: { from: JUST_STARTED, to: working, revision: 2, reason: "task_in_progress" },
      },
      {
        ...{ ...change, sequence: 2, atMs: clock.nowMs() },
        data: { from: working, to: killed, revision: 3, reason: "manually_killed" },
      },
      {
        ...{ ...change, sequence: 3, atMs: clock.nowMs() },
        data: {
          ...{ from: killed, to: { ...killed, workspaceFreed: true } },
          ...{ revision: 4, reason: "manually_killed" },
        },
      },
    ]);
  });

  test("says nothing of what changed nothing, was refused or is unknown", () => {
    const { manager, told } = aManager(aKilledSession());
    hear(manager, anActivitySignal());
    manager.onKillRequested(ID, "manual", null);
    manager.onKillRequested(sessionId("app-9"), "manual", null);
    expect(() => manager.onSpawnInitiated(aSession())).toThrow();
    expect(() => manager.onSpawnCompleted(ID, STARTED)).toThrow();
    expect(told()).toEqual([]);
  });

  test("and the row are written together or not at all", () => {
    const store = memoryStore();
    const problem = new Error("disk full");
    const append = () => {
      throw problem;
    };
    const { manager, row } = aManager(undefined, { ...store, changes: { ...store.changes, append } });
    expect(() => manager.onSpawnInitiated(aSession())).toThrow(problem);
    expect(row()).toBeUndefined();
    store.sessions.insert(aSession());
    expect(() => manager.onKillRequested(ID, "manual", null)).toThrow(problem);
    expect(row()).toEqual(aSession());
  });
});

describe("a spawn", () => {
  test("is seeded once; a taken id is refused and the row stays", () => {
    const { manager, row } = aManager();
    const record = aSession();
    expect(manager.onSpawnInitiated(record)).toEqual(record);
    expect(() => manager.onSpawnInitiated(aSession({ issueId: "other" }))).toThrow(
      expect.objectContaining({ code: "internal" }),
    );
    expect(row()).toEqual(record);
  });

  test("that completes is alive with its handles and still to be heard from", () => {
    const seeded = aSession({
      lifecycle: { runtime: { state: "unknown", reason: "spawn_incomplete" } },
      metadata: { runtime: null, process: null },
    });
    const { manager } = aManager(seeded);
    expect(manager.onSpawnCompleted(ID, STARTED)).toMatchObject({
      lifecycle: {
        session: { state: "not_started", reason: "spawn_requested" },
        runtime: { state: "alive", reason: "process_running" },
      },
      metadata: { runtime: STARTED.handle, process: STARTED.process },
    });
  });

  test("of an unknown session cannot complete", () => {
    const { manager } = aManager();
    expect(() => manager.onSpawnCompleted(ID, STARTED)).toThrow(
      expect.objectContaining({ code: "internal" }),
    );
  });

  test("that was killed meanwhile does not complete and stays killed", () => {
    const { manager, row } = aManager(aKilledSession());
    expect(() => manager.onSpawnCompleted(ID, STARTED)).toThrow(
      expect.objectContaining({ code: "not_running" }),
    );
    expect(row()).toEqual(aKilledSession());
  });
});

describe("a kill", () => {
  test.each([
    ["manual", "manually_killed", "manual_kill_requested"],
    ["cleanup", "auto_cleanup", "auto_cleanup"],
    ["error", "error_in_process", "probe_error"],
  ] as const)("with reason %s ends as %s", (reason, sessionReason, runtimeReason) => {
    const { manager, clock } = aManager(aSession({ lifecycle: aWorkingLifecycle() }));
    expect(manager.onKillRequested(ID, reason, "enough")).toMatchObject({
      changed: true,
      record: {
        terminatedAtMs: clock.nowMs(),
        lifecycle: {
          session: { state: "terminated", reason: sessionReason },
          runtime: { state: "exited", reason: runtimeReason },
        },
        metadata: { killNote: "enough" },
      },
    });
  });

  test("of a session that is over leaves how and when it ended", () => {
    const { manager, row } = aManager(aKilledSession());
    expect(manager.onKillRequested(ID, "error", "again")?.changed).toBe(false);
    expect(row()).toEqual(aKilledSession());
  });
});

describe("a restore", () => {
  const PATCH = {
    launchId: launchId("launch-2"),
    agentSessionId: "conversation",
    workspacePath: "/elsewhere",
    branch: "feat/other",
    runtime: STARTED.handle,
    process: STARTED.process,
  };

  test("opens a terminal row for its new launch", () => {
    const { manager } = aManager(
      aKilledSession({ metadata: { workspaceFreedAtMs: T0_MS, killNote: "enough" } }),
    );
    expect(manager.onRestoreInitiated(ID, PATCH)).toMatchObject({
      terminatedAtMs: null,
      lifecycle: {
        session: { state: "not_started", reason: "spawn_requested" },
        pr: { state: "none", reason: "cleared_on_restore" },
        runtime: { state: "unknown", reason: "spawn_incomplete" },
        detecting: null,
      },
      metadata: { ...PATCH, workspaceFreedAtMs: null, killNote: null },
    });
  });

  test("of a session that is not over is refused", () => {
    const { manager, row } = aManager(aSession());
    expect(() => manager.onRestoreInitiated(ID, PATCH)).toThrow(
      expect.objectContaining({ code: "not_restorable" }),
    );
    expect(row()).toEqual(aSession());
  });

  test("makes late facts of the old launch void", () => {
    const { manager, row } = aManager(aKilledSession());
    manager.onRestoreInitiated(ID, PATCH);
    const opened = row();
    look(manager, GONE);
    hear(manager, anActivitySignal({ launchId: LAUNCH }));
    name(manager, "old");
    expect(row()).toEqual(opened);
  });
});

describe("a freed worktree", () => {
  test("is dated once", () => {
    const { manager, row, clock } = aManager(aKilledSession());
    expect(manager.onWorkspaceFreed(ID)?.changed).toBe(true);
    const freedAtMs = clock.nowMs();
    clock.advance(1000);
    expect(manager.onWorkspaceFreed(ID)?.changed).toBe(false);
    expect(row()?.metadata.workspaceFreedAtMs).toBe(freedAtMs);
  });

  test("says nothing of a session that was opened again", () => {
    const { manager, row } = aManager(aSession());
    manager.onWorkspaceFreed(ID);
    expect(row()?.metadata.workspaceFreedAtMs).toBeNull();
  });
});

describe("the branch that a worktree has checked out", () => {
  test("is on record once the session is over", () => {
    const { manager, row } = aManager(aKilledSession());
    expect(manager.onBranchCheckedOut(ID, "feat/other")?.changed).toBe(true);
    expect(row()?.metadata.branch).toBe("feat/other");
    expect(manager.onBranchCheckedOut(ID, "feat/other")?.changed).toBe(false);
  });

  test("of a session that was opened again is its own business", () => {
    const { manager, row } = aManager(aSession());
    manager.onBranchCheckedOut(ID, "feat/other");
    expect(row()).toEqual(aSession());
  });
});

describe("observations", () => {
  test("that conclude death date the end", () => {
    const { manager, row, clock } = aManager(aSession({ lifecycle: aWorkingLifecycle() }));
    look(manager, GONE);
    expect(row()).toMatchObject({
      terminatedAtMs: clock.nowMs(),
      lifecycle: { session: { state: "terminated", reason: "runtime_lost" } },
    });
  });

  const arbitraryObservation = fc.record<RuntimeObservation>({
    runtime: fc.constantFrom(
      { kind: "alive", lastOutputAtMs: null } as const,
      { kind: "exited", exitStatus: 1, signal: null } as const,
      { kind: "missing" } as const,
      { kind: "unknown" } as const,
      { kind: "probe_failed", cause: "tmux: EAGAIN" } as const,
    ),
    process: fc.constantFrom(
      { kind: "alive" } as const,
      { kind: "dead" } as const,
      { kind: "indeterminate" } as const,
      { kind: "probe_failed", cause: "EACCES" } as const,
    ),
  });
  const arbitraryFact = fc.oneof(
    arbitraryObservation.map((seen) => (m: LifecycleManager) => look(m, seen)),
    fc
      .record({
        state: fc.constantFrom(...ACTIVITY_STATES),
        atMs: fc.integer({ min: T0_MS, max: T0_MS * 2 }),
      })
      .map((heard) => (m: LifecycleManager) => hear(m, anActivitySignal(heard))),
    fc
      .constantFrom(
        anOpenPullRequest(),
        { kind: "merged", number: 9, url: "u" } as const,
        { kind: "closed", number: 9, url: "u" } as const,
      )
      .map((facts) => (m: LifecycleManager) => m.observePullRequest(ID, facts)),
  );

  test("in any order, by two writers, never reopen a terminal session", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.boolean(), arbitraryFact), { maxLength: 40 }), (facts) => {
        const { manager: first, store } = aManager(aKilledSession());
        const { manager: second } = aManager(undefined, store);
        for (const [byFirst, fact] of facts) {
          fact(byFirst ? first : second);
        }
        const before = aKilledSession();
        const after = store.sessions.get(ID);
        const { revision, runtime } = after?.lifecycle ?? before.lifecycle;
        expect({ ...after, updatedAtMs: before.updatedAtMs }).toEqual({
          ...before,
          lifecycle: { ...before.lifecycle, revision, runtime },
        });
      }),
    );
  });

  test("that fail never end a session", () => {
    const failed: RuntimeObservation = {
      runtime: { kind: "probe_failed", cause: "tmux: EAGAIN" },
      process: { kind: "probe_failed", cause: "EAGAIN" },
    };
    const { manager, row, clock } = aManager(aSession({ lifecycle: aWorkingLifecycle() }));
    for (let looks = 0; looks < 50; looks++) {
      look(manager, failed);
      clock.advance(60_000);
    }
    expect(row()?.lifecycle.session).toEqual({ state: "stuck", reason: "probe_failure" });
    expect(row()?.terminatedAtMs).toBeNull();
  });
});
