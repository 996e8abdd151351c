import Database from "better-sqlite3";
import { createDatabase } from "./create-database.ts";
import { checkDatabaseFile, hasUnmergedLog, isThere } from "./database-file.ts";
import { removeLeftDrafts } from "./drafts.ts";
import { storeCorrupt, storeError } from "./errors.ts";
import { type Migration, migrate, newestVersion } from "./migrations.ts";

export interface DatabaseOptions {
  /** Absolute path of the file. */
  readonly path: string;
  /** How long a call waits for another process's transaction before it is `store_busy`. */
  readonly busyTimeoutMs: number;
  readonly migrations: readonly Migration[];
}

function ensureDatabase({ path, migrations }: DatabaseOptions): void {
  if (isThere(path)) return;
  // Asked again after the log: another process may have made both just now.
  if (hasUnmergedLog(path) && !isThere(path)) {
    throw storeCorrupt(path, "is gone, but its write-ahead log is still there");
  }
  createDatabase(path, migrations);
}

function connect({ path, busyTimeoutMs, migrations }: DatabaseOptions): Database.Database {
  const db = new Database(path, { fileMustExist: true, timeout: busyTimeoutMs });
  try {
    db.pragma("journal_mode = WAL");
    db.pragma("synchronous = FULL");
    db.pragma("foreign_keys = ON");
    migrate(db, migrations);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/**
 * Opens the database at `path` with the newest schema; makes it in the folder, which has to be there, when
 * there is none. A file that cannot be read as a database of `ao` is left byte for byte as it is.
 *
 * @throws AoError store_corrupt, store_newer, store_busy or data_dir_unusable
 */
export function openDatabase(options: DatabaseOptions): Database.Database {
  try {
    ensureDatabase(options);
    removeLeftDrafts(options.path);
    checkDatabaseFile(options.path, newestVersion(options.migrations));
    return connect(options);
  } catch (error) {
    throw storeError(error, options.path);
  }
}
