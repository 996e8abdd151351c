import type { Database } from "better-sqlite3";
import { storeCorrupt } from "./errors.ts";

/** Flaws that are looked for before the rest is left unread: one is enough to do nothing. */
const MAX_FLAWS = 1;
const HEADING = /^\*\*\* in database .* \*\*\*\n/;

/**
 * Reads every page of an open database, counts the entries of its indexes, and refuses one of which any part
 * is damaged (quick_check, sqlite.org/pragma.html; 3.53).
 *
 * @throws AoError store_corrupt
 * @throws SqliteError when a page is damaged so badly that the check itself stops.
 */
export function verifyDatabase(db: Database): void {
  const found = String(db.pragma(`quick_check(${MAX_FLAWS})`, { simple: true }));
  if (found === "ok") return;
  throw storeCorrupt(db.name, `is damaged: ${found.replace(HEADING, "").split("\n")[0]}`);
}
