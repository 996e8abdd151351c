import { readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, onTestFinished, test } from "vitest";
import { sqliteStore } from "../../../../src/adapters/sqlite/store.ts";
import type { SessionStore } from "../../../../src/ports/session-store.ts";
import { aSession } from "../../../support/builders.ts";
import { tempDir } from "../../../support/temp-dir.ts";
import { tamper } from "./database-files.ts";
import { type StoreProcess, storeProgram } from "./store-program.ts";

const WAIT = { timeout: 20_000, interval: 5 };
const HELD_MS = 3_000;

const HOLD_THE_LOCK = `
  const store = sqliteStore({ path }).sessions;
  store.transaction(() => {
    store.rememberOnce("held", "uncommitted");
    say("held");
    pause(Number(argument));
  });
  store.close();
`;

function open(path: string, busyTimeoutMs?: number): SessionStore {
  const store = sqliteStore({ path, ...(busyTimeoutMs === undefined ? {} : { busyTimeoutMs }) }).sessions;
  onTestFinished(() => store.close());
  return store;
}

async function printed(process: StoreProcess, count: number): Promise<void> {
  await expect.poll(() => process.lines().length, WAIT).toBeGreaterThanOrEqual(count);
}

function elapsedMs(work: () => unknown): number {
  const startedMs = performance.now();
  work();
  return performance.now() - startedMs;
}

describe("processes on one store", () => {
  test("that make it at the same moment all succeed, and no number is given twice", async () => {
    const path = join(tempDir(), "ao.db");
    const gate = join(tempDir(), "go");
    const start = await storeProgram(`
      say("ready");
      while (!existsSync(argument)) pause(1);
      const store = sqliteStore({ path }).sessions;
      for (let i = 0; i < 200; i++) say(String(store.allocateSessionNumber("app")));
      store.close();
    `);
    const processes = Array.from({ length: 4 }, () => start(path, gate));
    await Promise.all(processes.map((process) => printed(process, 1)));
    writeFileSync(gate, "");
    await Promise.all(processes.map((process) => process.ended));
    const numbers = processes.flatMap((process) => process.lines().slice(1).map(Number));
    expect(numbers.sort((a, b) => a - b)).toEqual(Array.from({ length: 800 }, (_, index) => index + 1));
    expect(readdirSync(dirname(path))).toEqual(["ao.db"]);
  });

  test("that migrate it at the same moment all succeed, and each step runs once", async () => {
    const path = join(tempDir(), "ao.db");
    const gate = join(tempDir(), "go");
    open(path).insert(aSession());
    const start = await storeProgram(`
      const slow = \`CREATE TABLE extra (a);
        WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 1e6) SELECT max(n) FROM c\`;
      say("ready");
      while (!existsSync(argument)) pause(1);
      openDatabase({ path, busyTimeoutMs: 20000, migrations: [...MIGRATIONS, { version: MIGRATIONS.length + 1, sql: slow }] });
    `);
    const processes = Array.from({ length: 4 }, () => start(path, gate));
    await Promise.all(processes.map((process) => printed(process, 1)));
    writeFileSync(gate, "");
    await Promise.all(processes.map((process) => process.ended));
    expect(() => open(path)).toThrow(expect.objectContaining({ code: "store_newer" }));
  });

  test("a writer waits for another process that writes for 3 seconds, and succeeds", async () => {
    const path = join(tempDir(), "ao.db");
    const store = open(path);
    const start = await storeProgram(HOLD_THE_LOCK);
    const holder = start(path, String(HELD_MS));
    await printed(holder, 1);
    expect(elapsedMs(() => expect(store.insert(aSession())).toBe(true))).toBeGreaterThan(HELD_MS / 2);
    expect(open(path).list()).toEqual([aSession()]);
    await holder.ended;
  });

  test("readers and those who open it do not wait for a writer, nor see what is not committed", async () => {
    const path = join(tempDir(), "ao.db");
    const store = open(path);
    store.insert(aSession());
    const start = await storeProgram(HOLD_THE_LOCK);
    const holder = start(path, "60000");
    await printed(holder, 1);
    expect(open(path, 0).list()).toEqual([aSession()]);
    expect(store.get(aSession().id)).toEqual(aSession());
    expect(store.projects()).toEqual([]);
    await holder.kill();
    expect(store.rememberOnce("held", "free")).toBe("free");
  });

  test("a writer that waited in vain is told store_busy and changed nothing", async () => {
    const path = join(tempDir(), "ao.db");
    const start = await storeProgram(HOLD_THE_LOCK);
    open(path);
    const holder = start(path, "60000");
    await printed(holder, 1);
    const store = open(path, 100);
    const busy = expect.objectContaining({ code: "store_busy", hint: expect.any(String) });
    expect(() => store.insert(aSession())).toThrow(busy);
    expect(() => store.allocateSessionNumber("app")).toThrow(busy);
    expect(() => store.transaction(() => undefined)).toThrow(busy);
    await holder.kill();
    expect(store.list()).toEqual([]);
    expect(store.allocateSessionNumber("app")).toBe(1);
  });

  test("a transaction sees what another process committed before it, never less", async () => {
    const path = join(tempDir(), "ao.db");
    const store = open(path);
    store.insert(aSession());
    const start = await storeProgram(`
      const store = sqliteStore({ path }).sessions;
      for (let i = 0; i < 100; i++) {
        store.transaction(() => {
          const record = store.list()[0];
          const read = record.lifecycle.revision;
          const next = { ...record, lifecycle: { ...record.lifecycle, revision: read + 1 } };
          if (!store.save(next, read)) throw new Error("lost a race inside a transaction");
        });
      }
      store.close();
    `);
    await Promise.all([start(path), start(path), start(path)].map((process) => process.ended));
    expect(store.get(aSession().id)?.lifecycle.revision).toBe(301);
  });
});

describe("a process that is killed", () => {
  test("while it gives numbers leaves none to be given again", async () => {
    const path = join(tempDir(), "ao.db");
    const start = await storeProgram(`
      const store = sqliteStore({ path }).sessions;
      for (;;) say(String(store.allocateSessionNumber("app")));
    `);
    const process = start(path);
    await printed(process, 50);
    await process.kill();
    const highest = Math.max(...process.lines().map(Number));
    expect(open(path).allocateSessionNumber("app")).toBeGreaterThan(highest);
  });

  test.each([1, 2, 3])("while it makes the store leaves none or a whole one (%i)", async () => {
    const path = join(tempDir(), "ao.db");
    const start = await storeProgram(`sqliteStore({ path }); say("open"); pause(60000);`);
    const process = start(path);
    await expect.poll(() => readdirSync(dirname(path)), { ...WAIT, interval: 1 }).not.toEqual([]);
    await process.kill();
    const store = open(path);
    expect(store.insert(aSession())).toBe(true);
    expect(store.list()).toEqual([aSession()]);
  });

  test("while it migrates leaves the old schema with all it held", async () => {
    const path = join(tempDir(), "ao.db");
    open(path).insert(aSession());
    const start = await storeProgram(`
      const slow = \`CREATE TABLE extra (a); DELETE FROM sessions;
        WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 1e12) SELECT max(n) FROM c\`;
      openDatabase({ path, busyTimeoutMs: 0, migrations: [...MIGRATIONS, { version: MIGRATIONS.length + 1, sql: slow }] });
    `);
    const process = start(path);
    await expect.poll(() => isLocked(path), WAIT).toBe(true);
    await process.kill();
    expect(open(path).list()).toEqual([aSession()]);
    expect(() => tamper(path, "SELECT * FROM extra")).toThrow(/no such table/);
  });
});

function isLocked(path: string): boolean {
  const db = new Database(path, { timeout: 0 });
  try {
    db.exec("BEGIN IMMEDIATE; ROLLBACK");
    return false;
  } catch {
    return true;
  } finally {
    db.close();
  }
}

describe("the files of the store", () => {
  test.each(["000", "022", "077"])("are for the user alone under umask %s", async (umask) => {
    const start = await storeProgram(`
      import { readdirSync, statSync } from "node:fs";
      import { dirname, join } from "node:path";
      process.umask(parseInt(argument, 8));
      const store = sqliteStore({ path }).sessions;
      store.rememberOnce("a", "b");
      const mode = (file) => (statSync(file).mode & 0o777).toString(8);
      for (const name of readdirSync(dirname(path)).sort()) say(name + " " + mode(join(dirname(path), name)));
    `);
    const process = start(join(tempDir(), "ao.db"), umask);
    await process.ended;
    expect(process.lines()).toEqual(["ao.db 600", "ao.db-shm 600", "ao.db-wal 600"]);
  });
});
