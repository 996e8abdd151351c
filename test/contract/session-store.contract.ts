import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { isAoError } from "../../src/domain/errors.ts";
import type { SessionRecord } from "../../src/domain/session.ts";
import type { SessionStore } from "../../src/ports/session-store.ts";
import {
  aKilledSession,
  aLifecycle,
  aProject,
  aSession,
  projectId,
  sessionId,
  T0_MS,
} from "../support/builders.ts";

const ids = (records: readonly SessionRecord[]) => records.map((record) => record.id);

const withRevision = (record: SessionRecord, revision: number): SessionRecord => ({
  ...record,
  lifecycle: { ...record.lifecycle, revision },
});

function sessionTests(fresh: () => SessionStore): void {
  test("an unknown session is undefined", () => {
    expect(fresh().get(sessionId("app-1"))).toBeUndefined();
  });

  test.each<[string, SessionRecord]>([
    ["a fresh session", aSession()],
    ["a killed session", aKilledSession()],
    [
      "a session whose agent ended by itself",
      aSession({ metadata: { exit: { status: null, signal: "SIGSEGV", atMs: T0_MS } } }),
    ],
    ["a session that was restored", aSession({ metadata: { launchedAtMs: T0_MS } })],
    ["a session with nothing optional", aSession({ metadata: { runtime: null, process: null } })],
    [
      "a session in doubt with a pull request",
      aSession({
        issueId: "42",
        kind: "orchestrator",
        lifecycle: {
          session: { state: "detecting", reason: "runtime_lost" },
          pr: { state: "open", reason: "ci_failing", number: 7, url: "https://example.test/7" },
          activity: { state: "waiting_input", lastActivityAtMs: T0_MS + 0.5, source: "hook" },
          detecting: { attempts: 2, startedAtMs: T0_MS, evidenceHash: "ab" },
        },
      }),
    ],
    [
      "hostile text",
      aSession({
        issueId: "'; DROP TABLE sessions; --",
        metadata: { title: "#(x) $(x) 🦉 \u0000 \u001b[31m \ud800", agentArgs: ["-rf", ""] },
      }),
    ],
  ])("%s is read as it was written", (_what, record) => {
    const store = fresh();
    expect(store.insert(record)).toBe(true);
    expect(store.get(record.id)).toEqual(record);
    expect(store.list()).toEqual([record]);
  });

  test("any title and prompt are read as they were written", () => {
    const store = fresh();
    const anyText = fc.string({ unit: "binary", maxLength: 50 });
    let number = 0;
    fc.assert(
      fc.property(anyText, anyText, (title, prompt) => {
        const record = aSession({ id: `app-${++number}`, metadata: { title: prompt } });
        store.insert(record, prompt);
        expect(store.get(record.id)).toEqual(record);
        const saved = aSession({ id: record.id, metadata: { title } });
        store.save(saved, 1);
        expect(store.get(record.id)).toEqual(saved);
        expect(store.promptOf(record.id)).toBe(prompt);
      }),
      { numRuns: 50 },
    );
  });

  test.each(["", "\n", "do it", null])("the prompt %j is in no record, and stays what it was", (prompt) => {
    const store = fresh();
    const record = aSession();
    store.insert(record, prompt);
    expect(store.list()).toEqual([record]);
    store.save(withRevision(record, 2), 1);
    expect(store.list()).toEqual([withRevision(record, 2)]);
    expect(store.insert(aSession(), "another")).toBe(false);
    expect(store.promptOf(record.id)).toBe(prompt);
  });

  test("there is no prompt of an unknown session, nor of one that an undone transaction inserted", () => {
    const store = fresh();
    expect(() =>
      store.transaction(() => {
        store.insert(aSession(), "do it");
        throw new Error("undone");
      }),
    ).toThrow("undone");
    expect(store.promptOf(sessionId("app-1"))).toBeNull();
  });

  test("a session whose id is taken is not inserted and changes nothing", () => {
    const store = fresh();
    const first = aSession({ issueId: "1" });
    store.insert(first);
    expect(store.insert(aSession({ issueId: "2" }))).toBe(false);
    expect(store.list()).toEqual([first]);
  });

  test("a save that names the stored revision replaces the whole row", () => {
    const store = fresh();
    store.insert(aSession());
    const next = aKilledSession({
      issueId: "9",
      projectId: "other",
      metadata: { title: "new" },
      lifecycle: { revision: 2 },
    });
    expect(store.save(next, 1)).toBe(true);
    expect(store.get(next.id)).toEqual(next);
    expect(ids(store.list(projectId("other")))).toEqual([next.id]);
  });

  test.each([0, 2, 3])("a save that names revision %i of a row at 1 changes nothing", (revision) => {
    const store = fresh();
    const first = aSession();
    store.insert(first);
    expect(store.save(withRevision(aSession({ issueId: "late" }), revision + 1), revision)).toBe(false);
    expect(store.get(first.id)).toEqual(first);
  });

  test("of two saves that read the same revision the second is refused", () => {
    const store = fresh();
    store.insert(aSession());
    const winner = withRevision(aSession({ issueId: "a" }), 2);
    expect(store.save(winner, 1)).toBe(true);
    expect(store.save(withRevision(aSession({ issueId: "b" }), 2), 1)).toBe(false);
    expect(store.get(winner.id)).toEqual(winner);
  });

  test("a save of a session that is not there adds none", () => {
    const store = fresh();
    expect(store.save(aSession(), 1)).toBe(false);
    expect(store.list()).toEqual([]);
  });

  test("what a caller does to a record afterwards is not stored", () => {
    const store = fresh();
    const agentArgs = ["--a"];
    const record = aSession({ metadata: { agentArgs } });
    store.insert(record);
    agentArgs.push("--b");
    expect(store.get(record.id)?.metadata.agentArgs).toEqual(["--a"]);
  });
}

function listTests(fresh: () => SessionStore): void {
  test("sessions are listed by creation, then by number, then by id", () => {
    const store = fresh();
    const inOrder = [
      aSession({ id: "web-9", createdAtMs: T0_MS - 1 }),
      aSession({ id: "app-2" }),
      aSession({ id: "web-2" }),
      aSession({ id: "app-10" }),
      aSession({ id: "a-b-2-11" }),
      aSession({ id: "app-1", createdAtMs: T0_MS + 1 }),
    ];
    for (const record of inOrder.toReversed()) store.insert(record);
    expect(ids(store.list())).toEqual(ids(inOrder));
  });

  test("the sessions of one project are listed alone and in the same order", () => {
    const store = fresh();
    store.insert(aSession({ id: "app-10" }));
    store.insert(aSession({ id: "web-1", projectId: "web" }));
    store.insert(aSession({ id: "app-9" }));
    expect(ids(store.list(projectId("app")))).toEqual(["app-9", "app-10"]);
    expect(store.list(projectId("none"))).toEqual([]);
  });
}

function numberTests(fresh: () => SessionStore): void {
  test("numbers count from 1, each prefix for itself", () => {
    const store = fresh();
    const taken = ["app", "app", "web", "app", "app-2"].map((prefix) => store.allocateSessionNumber(prefix));
    expect(taken).toEqual([1, 2, 1, 3, 1]);
  });

  test("a number is above every session of its prefix", () => {
    const store = fresh();
    store.insert(aSession({ id: "app-7" }));
    store.insert(aSession({ id: "app-10" }));
    store.insert(aSession({ id: "app-x-90" }));
    store.insert(aSession({ id: "ap-80" }));
    expect(store.allocateSessionNumber("app")).toBe(11);
    store.insert(aSession({ id: "app-20" }));
    expect(store.allocateSessionNumber("app")).toBe(21);
  });

  test("prefixes that differ only in upper and lower case share their numbers", () => {
    const store = fresh();
    expect(["app", "App", "APP"].map((prefix) => store.allocateSessionNumber(prefix))).toEqual([1, 2, 3]);
    store.insert(aSession({ id: "aPP-7" }));
    expect(store.allocateSessionNumber("App")).toBe(8);
  });

  test("a number is not given inside a transaction, where it could be undone", () => {
    const store = fresh();
    expect(() => store.transaction(() => store.allocateSessionNumber("app"))).toThrow(
      expect.objectContaining({ code: "internal" }),
    );
    expect(store.allocateSessionNumber("app")).toBe(1);
  });
}

function transactionTests(fresh: () => SessionStore): void {
  test("a transaction returns what its work returns, and its writes stay", () => {
    const store = fresh();
    const inside = store.transaction(() => {
      store.insert(aSession());
      return store.list().length;
    });
    expect(inside).toBe(1);
    expect(ids(store.list())).toEqual(["app-1"]);
  });

  test("a throw undoes every write of the transaction and reaches the caller as it was", () => {
    const store = fresh();
    const kept = aSession();
    const project = aProject();
    store.insert(kept);
    store.insertProject(project);
    const problem = new Error("no");
    const attempt = () =>
      store.transaction(() => {
        store.insert(aSession({ id: "app-2" }));
        store.save({ ...kept, issueId: "1", lifecycle: aLifecycle({ revision: 2 }) }, 1);
        store.removeProject(project.id);
        store.rememberOnce("key", "undone");
        throw problem;
      });
    expect(attempt).toThrow(problem);
    expect(store.list()).toEqual([kept]);
    expect(store.projects()).toEqual([project]);
    expect(store.rememberOnce("key", "kept")).toBe("kept");
  });

  test("a transaction inside another is refused, and the store works on", () => {
    const store = fresh();
    let inner: unknown;
    store.transaction(() => {
      try {
        store.transaction(() => undefined);
      } catch (error) {
        inner = error;
      }
      store.insert(aSession());
    });
    expect(isAoError(inner, "internal")).toBe(true);
    expect(store.transaction(() => store.list().length)).toBe(1);
  });

  test("asynchronous work is refused and undone", () => {
    const store = fresh();
    const attempt = () =>
      store.transaction(async () => {
        store.insert(aSession());
      });
    expect(attempt).toThrow(TypeError);
    expect(store.list()).toEqual([]);
  });
}

function projectTests(fresh: () => SessionStore): void {
  test("a project is found by its id and by its repository", () => {
    const store = fresh();
    const project = aProject({ defaultBranch: null, name: "Ä ' name" });
    expect(store.insertProject(project)).toBe(true);
    expect(store.project(project.id)).toEqual(project);
    expect(store.projectOfRepository(project.repositoryPath)).toEqual(project);
    expect(store.project(projectId("other"))).toBeUndefined();
    expect(store.projectOfRepository("/nowhere")).toBeUndefined();
  });

  test("a project whose id or repository is taken is not inserted", () => {
    const store = fresh();
    const project = aProject();
    store.insertProject(project);
    expect(store.insertProject(aProject({ repositoryPath: "/nowhere/else" }))).toBe(false);
    expect(store.insertProject(aProject({ id: "b", repositoryPath: project.repositoryPath }))).toBe(false);
    expect(store.projects()).toEqual([project]);
  });

  test("projects are listed by id", () => {
    const store = fresh();
    for (const id of ["b", "a-2", "Z", "a_1", "a"]) store.insertProject(aProject({ id }));
    expect(store.projects().map((project) => project.id)).toEqual(["Z", "a", "a-2", "a_1", "b"]);
  });

  test("a removed project is gone, its sessions stay, and removing it again is false", () => {
    const store = fresh();
    const project = aProject();
    store.insertProject(project);
    store.insert(aSession());
    expect(store.removeProject(project.id)).toBe(true);
    expect(store.project(project.id)).toBeUndefined();
    expect(ids(store.list(project.id))).toEqual(["app-1"]);
    expect(store.removeProject(project.id)).toBe(false);
    expect(store.insertProject(project)).toBe(true);
  });
}

function settingTests(fresh: () => SessionStore): void {
  test("the first value of a key is remembered and each key has its own", () => {
    const store = fresh();
    expect(store.rememberOnce("socket", "a")).toBe("a");
    expect(store.rememberOnce("socket", "b")).toBe("a");
    expect(store.rememberOnce("empty", "")).toBe("");
    expect(store.rememberOnce("empty", "c")).toBe("");
  });

  test("closing twice is no error", () => {
    const store = fresh();
    store.close();
    expect(() => store.close()).not.toThrow();
  });
}

/** What every `SessionStore` owes its callers. `open` makes a store with nothing in it. */
export function sessionStoreContract(name: string, open: () => SessionStore): void {
  function fresh(): SessionStore {
    const store = open();
    onTestFinished(() => store.close());
    return store;
  }

  describe(`${name} is a SessionStore`, () => {
    sessionTests(fresh);
    listTests(fresh);
    numberTests(fresh);
    transactionTests(fresh);
    projectTests(fresh);
    settingTests(fresh);
  });
}
