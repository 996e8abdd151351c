import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { MIGRATIONS } from "../../../../src/adapters/sqlite/migrations.ts";
import { openDatabase } from "../../../../src/adapters/sqlite/open-database.ts";
import { sqliteStore } from "../../../../src/adapters/sqlite/store.ts";
import type { Operation } from "../../../../src/domain/operation.ts";
import type { Store } from "../../../../src/ports/store.ts";
import { aSession, sessionId, T0_MS } from "../../../support/builders.ts";
import {
  aLease,
  aLeasedOperation,
  anOperation,
  anOperationIn,
  operationId,
} from "../../../support/operations.ts";
import { tempDir } from "../../../support/temp-dir.ts";
import { tamper } from "./database-files.ts";

function open(path: string): Store {
  const store = sqliteStore({ path });
  onTestFinished(() => store.close());
  return store;
}

const completed = anOperationIn({ kind: "completed", result: "done", completedAtMs: T0_MS });
const failed = anOperationIn({ kind: "failed", error: { code: "internal", message: "" }, result: null });

describe("the schema of operations", () => {
  const STATES: Readonly<Record<string, Operation>> = {
    prepared: anOperation(),
    leased: aLeasedOperation(),
    completed,
    failed,
  };

  test.each([
    ["prepared", "next_attempt_at = NULL"],
    ["leased", "next_attempt_at = 1"],
    ["completed", "next_attempt_at = 1"],
    ["failed", "next_attempt_at = 1"],
    ["leased", "lease_token = NULL"],
    ["leased", "lease_owner = NULL"],
    ["leased", "lease_expires_at = NULL"],
    ["prepared", "lease_token = 'a'"],
    ["completed", "lease_owner = '{}'"],
    ["failed", "lease_expires_at = 1"],
    ["completed", "result = NULL"],
    ["failed", "result = NULL"],
    ["prepared", "result = 'null'"],
    ["leased", "result = 'null'"],
    ["completed", "completed_at = NULL"],
    ["failed", "completed_at = 1"],
    ["leased", "completed_at = 1"],
    ["failed", "error = NULL"],
    ["completed", "error = '{}'"],
    ["prepared", "state = 'leased'"],
    ["prepared", "state = 'waiting'"],
    ["leased", "state = 'prepared'"],
    ["prepared", "version = 0"],
    ["prepared", "attempt = -1"],
    ["leased", "attempt = 0"],
    ["prepared", "input = '{'"],
    ["prepared", "progress = 'undefined'"],
    ["prepared", "updated_at = created_at - 1"],
  ])("refuses of one that is %s: %s", (state, change) => {
    const path = join(tempDir(), "ao.db");
    const { operations } = open(path);
    const operation = STATES[state] ?? anOperation();
    operations.insert(operation);
    expect(() => tamper(path, `UPDATE operations SET ${change}`)).toThrow(/CHECK constraint failed/);
    expect(operations.get(operation.id)).toEqual(operation);
  });

  test("what the rules never make is refused with its reason", () => {
    const { operations } = open(join(tempDir(), "ao.db"));
    expect(() => operations.insert(aLeasedOperation({ attempt: 0 }))).toThrow(
      expect.objectContaining({ code: "internal", message: expect.stringContaining("CHECK") }),
    );
  });
});

describe("an operation that cannot be read", () => {
  test.each([
    ["progress", "progress = '{'"],
    ["input", "input = ''"],
    ["state.kind", "state = 'waiting'"],
    [
      "state.owner.process.pid",
      `lease_owner = '{"process":{"startTime":"1","bootId":"b"},"command":"","sinceMs":1}'`,
    ],
    ["state.owner", "lease_owner = '['"],
    ["state.expiresAtMs", "lease_expires_at = -1"],
    ["kind", "kind = 'goal_set'"],
    ["projectId", "project_id = ''"],
    ["updatedAtMs", "updated_at = -1"],
  ])("because of its %s is named and hides no other", (flaw, change) => {
    const path = join(tempDir(), "ao.db");
    const { operations } = open(path);
    const damaged = aLeasedOperation({ id: 2, createdAtMs: T0_MS + 1 });
    operations.insert(anOperation({ sessionId: "app-2" }));
    operations.insert(damaged);
    operations.insert(anOperationIn(aLease(), { id: 3, createdAtMs: T0_MS + 2, sessionId: "app-3" }));
    tamper(
      path,
      `PRAGMA ignore_check_constraints = ON; UPDATE operations SET ${change} WHERE id = '${damaged.id}'`,
    );
    const { operations: readable, unreadable } = operations.unfinished();
    expect(readable.map(({ sessionId }) => sessionId)).toEqual(["app-2", "app-3"]);
    expect(unreadable).toEqual([{ id: damaged.id, sessionId: "app-1", flaw }]);
    expect(operations.ofSession(sessionId("app-1"), 9)).toEqual({ operations: [], unreadable });
    expect(() => operations.get(damaged.id)).toThrow(
      expect.objectContaining({ code: "store_corrupt", message: expect.stringContaining(flaw) }),
    );
  });
});

describe("a change that cannot be read", () => {
  test("fails the call, so that no reader misses it", () => {
    const path = join(tempDir(), "ao.db");
    const { changes } = open(path);
    const { projectId, id } = aSession();
    for (const data of [1, 2, 3]) changes.append({ atMs: T0_MS, projectId, sessionId: id, type: "t", data });
    tamper(path, "PRAGMA ignore_check_constraints = ON; UPDATE changes SET data = '{' WHERE sequence = 2");
    expect(() => changes.after(0, 10)).toThrow(
      expect.objectContaining({ code: "store_corrupt", message: expect.stringContaining("2 (data)") }),
    );
    expect(changes.after(2, 10)).toHaveLength(1);
  });
});

describe("a database of the first schema", () => {
  test("gets ledger and change log, and keeps its sessions", () => {
    const path = join(tempDir(), "ao.db");
    openDatabase({ path, busyTimeoutMs: 0, migrations: MIGRATIONS.slice(0, 1) }).close();
    const metadata = { ...aSession().metadata, prompt: null };
    tamper(
      path,
      `INSERT INTO sessions (id, project_id, kind, created_at, updated_at, revision, lifecycle, metadata)
       VALUES ('app-1', 'app', 'worker', ?, ?, 1, ?, ?)`,
      ...[T0_MS, T0_MS, JSON.stringify(aSession().lifecycle), JSON.stringify(metadata)],
    );
    const { sessions, operations, changes } = open(path);
    expect(sessions.list()).toEqual([aSession()]);
    expect(operations.insert(anOperation())).toBe(true);
    expect(operations.get(operationId())).toEqual(anOperation());
    expect(changes.last()).toBe(0);
  });
});
