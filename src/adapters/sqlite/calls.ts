import type { Database } from "better-sqlite3";
import { storeError } from "./errors.ts";

/** Runs one call of a store; what SQLite throws reaches the caller as an `AoError`. */
export type Call = <Result>(work: () => Result) => Result;

/** How the calls of a store on `db` are run. */
export function callsOf(db: Database): Call {
  return (work) => {
    try {
      return work();
    } catch (error) {
      throw storeError(error, db.name);
    }
  };
}
