import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { sqliteStore } from "../../../../src/adapters/sqlite/store.ts";
import { aSession } from "../../../support/builders.ts";
import { tempDir } from "../../../support/temp-dir.ts";

/** The path of a database that was closed well, with a few hundred sessions in it. */
export function aClosedDatabase(): string {
  const path = join(tempDir(), "ao.db");
  const store = sqliteStore({ path }).sessions;
  store.transaction(() => {
    for (let number = 1; number <= 300; number++) store.insert(aSession({ id: `app-${number}` }));
  });
  store.close();
  return path;
}

/** The path of a database as a crash leaves it: session app-301 is in its write-ahead log only. */
export function aCrashedDatabase(): string {
  const original = aClosedDatabase();
  const store = sqliteStore({ path: original }).sessions;
  store.insert(aSession({ id: "app-301" }));
  const folder = join(original, "..", "crashed");
  mkdirSync(folder);
  for (const suffix of ["", "-wal"]) copyFileSync(original + suffix, join(folder, `ao.db${suffix}`));
  store.close();
  return join(folder, "ao.db");
}

/** Runs SQL on a database as another program would. */
export function tamper(path: string, sql: string, ...values: readonly unknown[]): void {
  const db = new Database(path);
  try {
    if (values.length === 0) db.exec(sql);
    else db.prepare(sql).run(...values);
  } finally {
    db.close();
  }
}

/** The bytes of all files of a folder, by name. */
export function bytesIn(folder: string): ReadonlyMap<string, string> {
  const names = existsSync(folder) ? readdirSync(folder).sort() : [];
  return new Map(names.map((name) => [name, readFileSync(join(folder, name)).toString("base64")]));
}
