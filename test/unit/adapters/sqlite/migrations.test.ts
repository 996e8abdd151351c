import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  MIGRATIONS,
  type Migration,
  migrate,
  schemaVersion,
} from "../../../../src/adapters/sqlite/migrations.ts";
import { openDatabase } from "../../../../src/adapters/sqlite/open-database.ts";
import { sqliteStore } from "../../../../src/adapters/sqlite/store.ts";
import type { SessionRecord } from "../../../../src/domain/session.ts";
import { aSession, sessionId } from "../../../support/builders.ts";
import { tempDir } from "../../../support/temp-dir.ts";
import { tamper } from "./database-files.ts";

const ONE: Migration = { version: 1, sql: "CREATE TABLE one (a); INSERT INTO one VALUES ('kept')" };
const TWO: Migration = { version: 2, sql: "CREATE TABLE two (a)" };
const THREE: Migration = { version: 3, sql: "CREATE TABLE three (a)" };
const BROKEN: Migration = { version: 3, sql: "CREATE TABLE three (a); DROP TABLE absent" };

function memoryDatabase(): Database.Database {
  const db = new Database(":memory:");
  onTestFinished(() => void db.close());
  return db;
}

function tables(db: Database.Database): readonly unknown[] {
  return db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY rowid").pluck().all();
}

function open(path: string, migrations: readonly Migration[]): Database.Database {
  const db = openDatabase({ path, busyTimeoutMs: 1_000, migrations });
  onTestFinished(() => void db.close());
  return db;
}

describe("migrate", () => {
  test("numbers count up from 1 without a gap", () => {
    expect(MIGRATIONS.map(({ version }) => version)).toEqual(MIGRATIONS.map((_, index) => index + 1));
  });

  test("runs the missing steps only, in order", () => {
    const db = memoryDatabase();
    migrate(db, [ONE]);
    migrate(db, [ONE, TWO, THREE]);
    expect(tables(db)).toEqual(["one", "two", "three"]);
    expect(schemaVersion(db)).toBe(3);
  });

  test("a step that fails undoes those before it", () => {
    const db = memoryDatabase();
    migrate(db, [ONE]);
    expect(() => migrate(db, [ONE, TWO, BROKEN])).toThrow(/no such table: absent/);
    expect(tables(db)).toEqual(["one"]);
    expect(schemaVersion(db)).toBe(1);
    expect(db.prepare("SELECT a FROM one").pluck().get()).toBe("kept");
  });

  test("a database that is up to date is not written", () => {
    const db = memoryDatabase();
    migrate(db, [ONE, TWO]);
    db.pragma("query_only = ON");
    expect(() => migrate(db, [ONE, TWO])).not.toThrow();
  });

  test("a newer schema is store_newer and stays", () => {
    const db = memoryDatabase();
    migrate(db, [ONE, TWO]);
    expect(() => migrate(db, [ONE])).toThrow(expect.objectContaining({ code: "store_newer" }));
    expect(schemaVersion(db)).toBe(2);
  });
});

type Prompts = Readonly<Record<string, string>>;

/** A database as the ao with that schema left it, with these sessions as it wrote them. */
function anOlderDatabase(
  version: number,
  sessions: readonly SessionRecord[],
  {
    forget = [],
    prompts = {},
  }: Partial<Record<"forget", readonly string[]> & { readonly prompts: Prompts }> = {},
) {
  const path = join(tempDir(), "ao.db");
  const db = open(path, MIGRATIONS.slice(0, version));
  const insert = db.prepare(
    `INSERT INTO sessions (id, project_id, kind, created_at, updated_at, revision, lifecycle, metadata)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  for (const { id, projectId, kind, createdAtMs, updatedAtMs, lifecycle, metadata } of sessions) {
    const kept = Object.entries({ ...metadata, prompt: prompts[id] ?? null }).filter(
      ([name]) => !forget.includes(name),
    );
    const texts = [JSON.stringify(lifecycle), JSON.stringify(Object.fromEntries(kept))];
    insert.run(id, projectId, kind, createdAtMs, updatedAtMs, lifecycle.revision, ...texts);
  }
  db.close();
  return path;
}

describe("the sessions of an older ao", () => {
  test.each([
    [3, ["heard", "previousAgentSessionIds"]],
    [5, []],
  ])("of schema %i are read after the migration, and a damaged one is left as it is", (version, forget) => {
    const records = [
      aSession({ metadata: { agentSessionId: "conversation" } }),
      aSession({ id: "app-2" }),
      aSession({ id: "app-3" }),
      aSession({ id: "app-4" }),
    ];
    const prompts = { "app-1": 'say "ä\u0000\ud800" \\ \u2028', "app-2": "lost", "app-3": "" };
    const path = anOlderDatabase(version, records, { forget, prompts });
    tamper(path, "UPDATE sessions SET metadata = '{' WHERE id = 'app-2'");
    const { sessions } = aStore(path);
    const [first, , third, fourth] = records;
    expect(sessions.rows().sessions).toEqual([first, third, fourth]);
    const read = ["app-1", "app-3", "app-4"].map((id) => sessions.promptOf(sessionId(id)));
    expect(read).toEqual([prompts["app-1"], "", null]);
    expect(() => sessions.get(sessionId("app-2"))).toThrow(
      expect.objectContaining({ code: "store_corrupt" }),
    );
  });

  test("have no prompt in the rows that a list reads, before nor after they are written anew", () => {
    const record = aSession();
    const prompts = { [record.id]: "MARK".repeat(5000) };
    const { sessions, path } = aStore(anOlderDatabase(5, [record], { prompts }));
    expect(metadataIn(path)).not.toContain("MARK");
    const next = { ...record, issueId: "9", lifecycle: { ...record.lifecycle, revision: 2 } };
    expect(sessions.save(next, 1)).toBe(true);
    expect(metadataIn(path)).not.toContain("MARK");
    expect(sessions.list()).toEqual([next]);
    expect(sessions.promptOf(record.id)).toBe(prompts[record.id]);
  });
});

function metadataIn(path: string): unknown {
  const db = new Database(path, { readonly: true });
  onTestFinished(() => void db.close());
  return db.prepare("SELECT group_concat(metadata) FROM sessions").pluck().get();
}

/** The real store, on a database of its own unless one is named. */
function aStore(path = join(tempDir(), "ao.db")) {
  const store = sqliteStore({ path });
  onTestFinished(() => store.close());
  return { ...store, path };
}

describe("openDatabase", () => {
  test("an older database is brought up with what it holds", () => {
    const path = join(tempDir(), "ao.db");
    open(path, [ONE]).close();
    const db = open(path, [ONE, TWO]);
    expect(schemaVersion(db)).toBe(2);
    expect(db.prepare("SELECT a FROM one").pluck().get()).toBe("kept");
  });

  test("an older database whose step fails opens with its own ao as before", () => {
    const path = join(tempDir(), "ao.db");
    open(path, [ONE, TWO]).close();
    expect(() => open(path, [ONE, TWO, BROKEN])).toThrow(expect.objectContaining({ code: "store_corrupt" }));
    expect(tables(open(path, [ONE, TWO]))).toEqual(["one", "two"]);
  });

  test("a damaged one is refused before its first step", () => {
    const path = join(tempDir(), "ao.db");
    const before = open(path, [ONE]);
    before.exec("CREATE TABLE more (a); INSERT INTO more VALUES (zeroblob(20000))");
    before.close();
    const bytes = readFileSync(path);
    bytes.fill(0x5a, 2 * 4096, 3 * 4096);
    writeFileSync(path, bytes);
    expect(() => open(path, [ONE, TWO])).toThrow(expect.objectContaining({ code: "store_corrupt" }));
    expect(readFileSync(path)).toEqual(bytes);
  });

  test.each([
    ["journal_mode", "wal"],
    ["synchronous", 2],
    ["foreign_keys", 1],
    ["application_id", 0x616f6462],
    ["busy_timeout", 1_000],
  ])("%s is %s, in a new database and in one opened again", (pragma, expected) => {
    const path = join(tempDir(), "ao.db");
    for (const db of [open(path, MIGRATIONS), open(path, MIGRATIONS)]) {
      expect(db.pragma(pragma, { simple: true })).toBe(expected);
    }
  });
});

test("numbers that were counted apart for upper and lower case go on from the greatest", () => {
  const path = join(tempDir(), "ao.db");
  const before = openDatabase({ path, busyTimeoutMs: 0, migrations: MIGRATIONS.slice(0, 2) });
  before.exec("INSERT INTO session_numbers VALUES ('App', 3), ('app', 5), ('web', 1)");
  before.close();
  const db = open(path, MIGRATIONS);
  expect(db.prepare("SELECT prefix, last FROM session_numbers ORDER BY prefix").all()).toEqual([
    { prefix: "app", last: 5 },
    { prefix: "web", last: 1 },
  ]);
});
