import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import Database from "better-sqlite3";
import type { HookEvent } from "../../../../../src/domain/facts.ts";

const FOLDER = join(import.meta.dirname, "../../../../fixtures/opencode-1.18.33");

/** The conversation and the workspace of what was recorded of opencode 1.18.33. */
export const CONVERSATION = "ses_dd0ffb0b8ffe58RVTvLICbrzvE";
export const WORKSPACE = "/home/dev/shop";

type Row = Readonly<Record<string, string | number | null>>;

export interface RecordedRows {
  readonly schema: readonly string[];
  readonly session: readonly Row[];
  readonly message: readonly Row[];
  readonly part: readonly Row[];
}

export function recorded(name: string): string {
  return readFileSync(join(FOLDER, name), "utf8");
}

/** What its plugin left of one event, oldest first. */
export function payloads(event: string): readonly string[] {
  return readdirSync(join(FOLDER, "hooks"))
    .sort()
    .filter((name) => name.endsWith(`-${event}.json`))
    .map((name) => recorded(join("hooks", name)));
}

export function hookEvent(event: string, body: string): HookEvent {
  return { id: "1", sessionId: "app-1", launchId: "l-1", agent: "opencode", event, atMs: 1_000, body };
}

export function recordedRows(): RecordedRows {
  return JSON.parse(recorded("database.json")) as RecordedRows;
}

/** Puts rows into a database of that schema below a home, and returns its path. */
export function fillDatabase(home: string, { schema, ...tables }: RecordedRows): string {
  const path = join(home, ".local", "share", "opencode", "opencode.db");
  mkdirSync(dirname(path), { recursive: true });
  const db = new Database(path);
  try {
    db.pragma("foreign_keys = OFF");
    for (const statement of schema) db.exec(statement.replace("CREATE TABLE", "CREATE TABLE IF NOT EXISTS"));
    for (const table of ["session", "message", "part"] as const) {
      for (const row of tables[table]) {
        const names = Object.keys(row);
        const values = names.map((name) => `@${name}`);
        db.prepare(`INSERT INTO ${table} (${names}) VALUES (${values})`).run(row);
      }
    }
    return path;
  } finally {
    db.close();
  }
}
