import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, onTestFinished, test } from "vitest";
import { sqliteStore } from "../../../../src/adapters/sqlite/store.ts";
import type { SessionStore } from "../../../../src/ports/session-store.ts";
import { aSession, projectId, sessionId } from "../../../support/builders.ts";
import { tempDir } from "../../../support/temp-dir.ts";
import { aClosedDatabase, aCrashedDatabase, bytesIn, tamper } from "./database-files.ts";

function half(path: string): void {
  truncateSync(path, readFileSync(path).length / 2);
}

function overwriteStart(path: string): void {
  const bytes = readFileSync(path);
  randomBytes(200).copy(bytes);
  writeFileSync(path, bytes);
}

function open(path: string): SessionStore {
  const store = sqliteStore({ path }).sessions;
  onTestFinished(() => store.close());
  return store;
}

describe("a damaged database", () => {
  test.each<[string, (path: string) => void]>([
    ["emptied", (path) => truncateSync(path, 0)],
    ["cut to half", half],
    ["cut within its header", (path) => truncateSync(path, 50)],
    ["cut to one page", (path) => truncateSync(path, 4096)],
    ["overwritten with random bytes", (path) => writeFileSync(path, randomBytes(20_000))],
    ["overwritten at its start", overwriteStart],
    ["replaced by a text", (path) => writeFileSync(path, "hello\n".repeat(1000))],
  ])("that was %s is refused and left byte for byte as it is", (_how, damage) => {
    const path = aClosedDatabase();
    damage(path);
    const before = bytesIn(dirname(path));
    expect(() => sqliteStore({ path })).toThrow(
      expect.objectContaining({ code: "store_corrupt", hint: expect.stringContaining("backup") }),
    );
    expect(bytesIn(dirname(path))).toEqual(before);
  });

  test.each<[string, (path: string) => void]>([
    ["emptied", (path) => truncateSync(path, 0)],
    ["cut within its header", (path) => truncateSync(path, 50)],
    ["overwritten at its start", overwriteStart],
    ["deleted", (path) => rmSync(path)],
  ])("that was %s after a crash is refused and its write-ahead log is kept", (_how, damage) => {
    const path = aCrashedDatabase();
    damage(path);
    const before = bytesIn(dirname(path));
    expect(() => sqliteStore({ path })).toThrow(expect.objectContaining({ code: "store_corrupt" }));
    expect(bytesIn(dirname(path))).toEqual(before);
    expect([...before.keys()]).toContain("ao.db-wal");
  });

  test("a page overwritten in the middle fails the read that meets it", () => {
    const path = aClosedDatabase();
    const bytes = readFileSync(path);
    bytes.fill(0x5a, 8 * 4096, bytes.length - 4096);
    writeFileSync(path, bytes);
    expect(() => open(path).list()).toThrow(expect.objectContaining({ code: "store_corrupt" }));
  });
});

describe("a check of the whole store", () => {
  test("passes one that is whole, also with a row that cannot be read", () => {
    const path = aClosedDatabase();
    tamper(path, "UPDATE sessions SET metadata = '{' WHERE id = 'app-7'");
    expect(() => open(path).verify()).not.toThrow();
  });

  test("finds a page that no list meets", () => {
    const path = aClosedDatabase();
    tamper(
      path,
      `INSERT INTO changes (at, project_id, type, data) VALUES (0, 'app', 'x', json_quote(hex(zeroblob(50000))))`,
    );
    const page = lastPageOf(path, "changes");
    const bytes = readFileSync(path);
    bytes.fill(0x5a, (page - 1) * 4096, page * 4096);
    writeFileSync(path, bytes);
    const store = open(path);
    expect(store.list()).toHaveLength(300);
    expect(() => store.verify()).toThrow(
      expect.objectContaining({
        code: "store_corrupt",
        message: expect.not.stringContaining("\n"),
        hint: expect.stringContaining("backup"),
      }),
    );
  });

  test("finds an index that lacks a row, which a list then does not show", () => {
    const path = aClosedDatabase();
    insertPastIndex(path, "sessions_by_creation", "app-999");
    const store = open(path);
    expect(store.get(sessionId("app-999"))).toBeDefined();
    expect(store.list()).toHaveLength(300);
    expect(() => store.verify()).toThrow(expect.objectContaining({ code: "store_corrupt" }));
  });
});

/** Copies session app-1 while an index is out of the schema, as a lost write to the index would. */
function insertPastIndex(path: string, index: string, id: string): void {
  const raw = (work: (db: Database.Database) => void) => {
    const db = new Database(path).unsafeMode();
    db.pragma("writable_schema = ON");
    work(db);
    db.close();
  };
  let entry: unknown;
  raw((db) => {
    entry = db.prepare("SELECT * FROM sqlite_schema WHERE name = ?").get(index);
    db.prepare("DELETE FROM sqlite_schema WHERE name = ?").run(index);
  });
  const columns = "project_id, kind, created_at, updated_at, revision, lifecycle, metadata";
  tamper(
    path,
    `INSERT INTO sessions (id, ${columns}) SELECT '${id}', ${columns} FROM sessions WHERE id = 'app-1'`,
  );
  raw((db) => {
    db.prepare("INSERT INTO sqlite_schema VALUES (@type, @name, @tbl_name, @rootpage, @sql)").run(entry);
  });
}

/** The highest page that a table's rows are on. */
function lastPageOf(path: string, table: string): number {
  const db = new Database(path);
  try {
    const pages = db.prepare("SELECT max(rootpage) FROM sqlite_schema WHERE name = ?").pluck().get(table);
    return Number(pages);
  } finally {
    db.close();
  }
}

describe("a schema that lacks a part", () => {
  test.each([
    ["a table", "DROP TABLE changes"],
    ["the table of settings", "DROP TABLE settings"],
    ["a column", "ALTER TABLE operations DROP COLUMN last_error"],
  ])("%s is store_corrupt with a hint, and the file stays open to nobody", (_what, sql) => {
    const path = aClosedDatabase();
    tamper(path, sql);
    for (const isReadOnly of [false, true]) {
      expect(() => sqliteStore({ path, isReadOnly })).toThrow(
        expect.objectContaining({ code: "store_corrupt", hint: expect.stringContaining("backup") }),
      );
    }
  });
});

describe("a database that a crash left", () => {
  test("is opened with all that was committed", () => {
    const store = open(aCrashedDatabase());
    expect(store.list()).toHaveLength(301);
    expect(store.get(sessionId("app-301"))).toEqual(aSession({ id: "app-301" }));
  });
});

describe("what is no database of this ao", () => {
  test("a database with a newer schema is refused and left as it is", () => {
    const path = aClosedDatabase();
    tamper(path, "PRAGMA user_version = 99");
    const before = bytesIn(dirname(path));
    expect(() => sqliteStore({ path })).toThrow(
      expect.objectContaining({ code: "store_newer", hint: expect.stringContaining("upgrade ao") }),
    );
    expect(bytesIn(dirname(path))).toEqual(before);
  });

  test("after a crash of a newer ao its write-ahead log is left as it is", () => {
    const path = aCrashedDatabase();
    const bytes = readFileSync(path);
    bytes.writeInt32BE(99, 60);
    writeFileSync(path, bytes);
    const before = bytesIn(dirname(path));
    expect(() => sqliteStore({ path })).toThrow(expect.objectContaining({ code: "store_newer" }));
    expect(bytesIn(dirname(path))).toEqual(before);
  });

  test("a newer schema that is still in the write-ahead log is refused", () => {
    const path = aClosedDatabase();
    const newer = new Database(path);
    onTestFinished(() => void newer.close());
    newer.pragma("user_version = 99");
    expect(() => sqliteStore({ path })).toThrow(expect.objectContaining({ code: "store_newer" }));
  });

  test("a database of another program is refused and left as it is", () => {
    const path = join(tempDir(), "ao.db");
    tamper(path, "CREATE TABLE notes (text); INSERT INTO notes VALUES ('mine')");
    const before = bytesIn(dirname(path));
    expect(() => sqliteStore({ path })).toThrow(
      expect.objectContaining({ code: "data_dir_unusable", hint: expect.stringContaining("AO_DATA_DIR") }),
    );
    expect(bytesIn(dirname(path))).toEqual(before);
  });

  test.each<[string, (root: string) => string]>([
    [
      "a folder",
      (root) => {
        mkdirSync(join(root, "ao.db"));
        return join(root, "ao.db");
      },
    ],
    [
      "below a file",
      (root) => {
        writeFileSync(join(root, "file"), "");
        return join(root, "file", "ao.db");
      },
    ],
    [
      "a dangling link",
      (root) => {
        symlinkSync(join(root, "nowhere"), join(root, "ao.db"));
        return join(root, "ao.db");
      },
    ],
    ["in a folder that nobody can make", () => "/proc/none/ao.db"],
  ])("a path that is %s is data_dir_unusable", (_what, prepare) => {
    const path = prepare(tempDir());
    expect(() => sqliteStore({ path })).toThrow(
      expect.objectContaining({ code: "data_dir_unusable", hint: expect.any(String) }),
    );
  });
});

describe("a damaged row", () => {
  const rows: readonly [string, string, string][] = [
    ["lifecycle", "not JSON", "UPDATE sessions SET lifecycle = '{' WHERE id = 'app-2'"],
    ["lifecycle", "null", "UPDATE sessions SET lifecycle = 'null' WHERE id = 'app-2'"],
    ["lifecycle.version", "unknown", set("lifecycle", "version", 2)],
    ["lifecycle.session.state", "unknown", set("lifecycle", "session.state", "asleep")],
    ["lifecycle.pr", "missing", remove("lifecycle", "pr")],
    ["lifecycle.detecting.attempts", "missing", set("lifecycle", "detecting", {})],
    ["lifecycle.activity.lastActivityAtMs", "text", set("lifecycle", "activity.lastActivityAtMs", "now")],
    ["metadata", "not JSON", "UPDATE sessions SET metadata = 'x' WHERE id = 'app-2'"],
    ["metadata.branch", "missing", remove("metadata", "branch")],
    ["metadata.agentArgs", "not a list of texts", set("metadata", "agentArgs", [1])],
    ["metadata.launchId", "no launch id", set("metadata", "launchId", "../x")],
    ["metadata.runtime.server", "missing", remove("metadata", "runtime.server")],
    ["metadata.process.pid", "text", set("metadata", "process.pid", "1")],
    ["projectId", "no project id", "UPDATE sessions SET project_id = '../x' WHERE id = 'app-2'"],
    ["kind", "unknown", "UPDATE sessions SET kind = 'boss' WHERE id = 'app-2'"],
    ["revision", "not the lifecycle's", "UPDATE sessions SET revision = 7 WHERE id = 'app-2'"],
  ];

  test.each(rows)("whose %s is %s is reported by its id and field", (field, _what, sql) => {
    const path = join(tempDir(), "ao.db");
    const store = open(path);
    for (const id of ["app-1", "app-2", "app-3"]) store.insert(aSession({ id }));
    tamper(path, sql);
    const report = expect.objectContaining({
      code: "store_corrupt",
      message: expect.stringContaining(`app-2 (${field})`),
    });
    expect(() => store.get(sessionId("app-2"))).toThrow(report);
    expect(() => store.list()).toThrow(report);
    const { sessions, unreadable } = store.rows();
    expect(sessions.map(({ id }) => id)).toEqual(["app-1", "app-3"]);
    expect(unreadable).toMatchObject([{ id: "app-2", flaw: field }]);
    expect(store.get(sessionId("app-3"))).toEqual(aSession({ id: "app-3" }));
  });

  test("every damaged row is counted, and all of another project are still listed", () => {
    const path = join(tempDir(), "ao.db");
    const store = open(path);
    for (let number = 1; number <= 9; number++) store.insert(aSession({ id: `app-${number}` }));
    store.insert(aSession({ id: "web-1", projectId: "web" }));
    tamper(path, "UPDATE sessions SET metadata = '{}' WHERE project_id = 'app'");
    expect(() => store.list()).toThrow(/9 unreadable session rows: app-1 \(metadata\.title\), app-2/);
    expect(store.list(projectId("web"))).toHaveLength(1);
    expect(store.rows(projectId("app"))).toMatchObject({ sessions: [], unreadable: { length: 9 } });
  });

  test("a session that has lost its prompt is one whose row cannot be read", () => {
    const path = join(tempDir(), "ao.db");
    const store = open(path);
    for (const id of ["app-1", "app-2"]) store.insert(aSession({ id }), "do it");
    tamper(path, "DELETE FROM prompts WHERE session_id = 'app-2'");
    const { sessions, unreadable } = store.rows();
    expect(sessions.map(({ id }) => id)).toEqual(["app-1"]);
    expect(unreadable).toMatchObject([{ id: "app-2", flaw: "metadata.prompt" }]);
  });

  test("a prompt that is lost after its session was read is not made up", () => {
    const path = join(tempDir(), "ao.db");
    const store = open(path);
    const { id } = aSession();
    store.insert(aSession(), "do it");
    expect(store.list()).toHaveLength(1);
    tamper(path, "DELETE FROM prompts");
    expect(() => store.promptOf(id)).toThrow(
      expect.objectContaining({ code: "store_corrupt", message: expect.stringContaining("app-1") }),
    );
  });

  test("a prompt that cannot be read keeps nobody from a list, nor from a copy of what it gives", () => {
    const path = join(tempDir(), "ao.db");
    const store = open(path);
    store.insert(aSession(), "do it");
    const tampered = `PRAGMA ignore_check_constraints = ON; UPDATE prompts SET prompt = '{'`;
    tamper(path, tampered);
    const records = store.list();
    store.close();
    expect(JSON.parse(JSON.stringify(records))).toEqual([aSession()]);
    expect(records.map((record) => ({ ...record.metadata }))).toEqual([aSession().metadata]);
  });

  test("a project whose id does not parse is reported", () => {
    const path = join(tempDir(), "ao.db");
    const store = open(path);
    tamper(path, "INSERT INTO projects VALUES ('../x', 'x', '/x', 'x', NULL, 0)");
    expect(() => store.projects()).toThrow(expect.objectContaining({ code: "store_corrupt" }));
  });
});

function set(column: string, field: string, value: unknown): string {
  return `UPDATE sessions SET ${column} = json_set(${column}, '$.${field}', json('${JSON.stringify(value)}'))
    WHERE id = 'app-2'`;
}

function remove(column: string, field: string): string {
  return `UPDATE sessions SET ${column} = json_remove(${column}, '$.${field}') WHERE id = 'app-2'`;
}
