import { chmodSync, copyFileSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, onTestFinished, test } from "vitest";
import { readDatabase } from "../../../../src/adapters/sqlite/read-database.ts";
import { sqliteStore } from "../../../../src/adapters/sqlite/store.ts";
import type { Store } from "../../../../src/ports/store.ts";
import { aProject, aSession } from "../../../support/builders.ts";
import { tempDir } from "../../../support/temp-dir.ts";
import { aClosedDatabase, aCrashedDatabase, bytesIn, tamper } from "./database-files.ts";
import { storeProgram } from "./store-program.ts";

function openToRead(path: string): Store {
  const store = sqliteStore({ path, isReadOnly: true });
  onTestFinished(() => store.close());
  return store;
}

const STEPS = [
  { version: 1, sql: "CREATE TABLE one (a); INSERT INTO one VALUES ('kept')" },
  { version: 2, sql: "CREATE TABLE two (a); INSERT INTO two SELECT a FROM one" },
];

describe("a store that is opened for reading", () => {
  test("shows what is committed, what others commit later, and what a crash left in the log", () => {
    const path = aCrashedDatabase();
    const store = openToRead(path);
    expect(store.sessions.list()).toHaveLength(301);
    const other = sqliteStore({ path });
    onTestFinished(() => other.close());
    other.sessions.insert(aSession({ id: "app-302" }));
    expect(store.sessions.list()).toHaveLength(302);
    expect(store.isSnapshot).toBe(false);
  });

  test("leaves the database byte for byte as it is", () => {
    const path = aClosedDatabase();
    const before = readFileSync(path);
    const store = openToRead(path);
    expect(store.sessions.list()).toHaveLength(300);
    expect(store.sessions.rememberOnce("key", "mine")).toBe("mine");
    store.close();
    expect(readFileSync(path)).toEqual(before);
  });

  test("remembers what is stored and nothing else", () => {
    const path = aClosedDatabase();
    tamper(path, "INSERT INTO settings VALUES ('key', 'stored')");
    const { sessions } = openToRead(path);
    expect(sessions.rememberOnce("key", "mine")).toBe("stored");
    expect(sessions.rememberOnce("other", "mine")).toBe("mine");
    expect(sessions.rememberOnce("other", "yours")).toBe("yours");
  });

  test.each<[string, (store: Store) => unknown]>([
    ["an insert", ({ sessions }) => sessions.insert(aSession({ id: "app-999" }))],
    ["a write in a transaction", ({ sessions }) => sessions.transaction(() => sessions.insert(aSession()))],
    ["a number", ({ sessions }) => sessions.allocateSessionNumber("app")],
    ["a project", ({ sessions }) => sessions.insertProject(aProject())],
  ])("refuses %s", (_what, write) => {
    const store = openToRead(aClosedDatabase());
    expect(() => write(store)).toThrow(expect.objectContaining({ code: "data_dir_unusable" }));
  });

  test.each<[string, (path: string) => void, string]>([
    ["is not there", (path) => rmSync(path), "data_dir_unusable"],
    ["is emptied", (path) => writeFileSync(path, ""), "store_corrupt"],
    ["is newer", (path) => tamper(path, "PRAGMA user_version = 99"), "store_newer"],
  ])("refuses one that %s and makes nothing", (_what, damage, code) => {
    const path = aClosedDatabase();
    damage(path);
    const before = bytesIn(dirname(path));
    expect(() => sqliteStore({ path, isReadOnly: true })).toThrow(expect.objectContaining({ code }));
    expect(bytesIn(dirname(path))).toEqual(before);
  });

  test("whose database was lost beside its write-ahead log is store_corrupt", () => {
    const path = aCrashedDatabase();
    rmSync(path);
    expect(() => sqliteStore({ path, isReadOnly: true })).toThrow(
      expect.objectContaining({ code: "store_corrupt" }),
    );
  });

  test("of an older ao is read as its migration would leave it, and stays as it is", () => {
    const path = join(tempDir(), "ao.db");
    const before = { path, busyTimeoutMs: 0, migrations: STEPS.slice(0, 1) };
    sqliteStore({ path }).close();
    rmSync(path);
    const old = new Database(path);
    old.pragma("application_id = 0x616f6462");
    old.exec(`${STEPS[0]?.sql}; PRAGMA user_version = 1; PRAGMA journal_mode = WAL`);
    old.close();
    const bytes = readFileSync(path);
    const { db, isCopy } = readDatabase({ ...before, migrations: STEPS });
    onTestFinished(() => void db.close());
    expect(isCopy).toBe(true);
    expect(db.name).toBe(path);
    expect(db.prepare("SELECT a FROM two").pluck().get()).toBe("kept");
    expect(() => db.exec("DROP TABLE two")).toThrow(expect.objectContaining({ code: "SQLITE_READONLY" }));
    expect(readFileSync(path)).toEqual(bytes);
  });
});

describe("where nothing may be written", () => {
  /** Root may write anywhere: then another user takes its place. */
  const READ_AS_STRANGER = `
    if (process.getuid() === 0) process.setuid(65534);
    try {
      const store = sqliteStore({ path, isReadOnly: argument === "read" });
      say(store.sessions.list().length + (store.isSnapshot ? " copied" : ""));
    } catch (error) {
      say(error.code);
    }
  `;

  async function readIn(
    from: string,
    suffixes: readonly string[],
    how = "read",
  ): Promise<string | undefined> {
    const folder = join(tempDir(), "data");
    mkdirSync(folder);
    for (const suffix of suffixes) copyFileSync(from + suffix, join(folder, `ao.db${suffix}`));
    for (const suffix of suffixes) chmodSync(join(folder, `ao.db${suffix}`), 0o444);
    chmodSync(dirname(folder), 0o755);
    chmodSync(folder, 0o555);
    onTestFinished(() => chmodSync(folder, 0o755));
    const start = await storeProgram(READ_AS_STRANGER);
    const process = start(join(folder, "ao.db"), how);
    await process.ended;
    return process.lines()[0];
  }

  test("a database that was closed well is read from a copy", async () => {
    expect(await readIn(aClosedDatabase(), [""])).toBe("300 copied");
  });

  test("one that a crash left is read with its log", async () => {
    const path = aCrashedDatabase();
    const reader = sqliteStore({ path, isReadOnly: true });
    reader.sessions.list();
    reader.close();
    expect(statSync(`${path}-shm`).size).toBeGreaterThan(0);
    expect(await readIn(path, ["", "-wal", "-shm"])).toBe("301");
  });

  test("a log that cannot be read with it is an error, not a state of yesterday", async () => {
    expect(await readIn(aCrashedDatabase(), ["", "-wal"])).toBe("data_dir_unusable");
  });

  test("it is not opened for writing", async () => {
    expect(await readIn(aClosedDatabase(), [""], "write")).toBe("data_dir_unusable");
  });
});
