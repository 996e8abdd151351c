import { readFileSync, statSync } from "node:fs";
import Database from "better-sqlite3";
import { checkDatabaseFile, hasUnmergedLog, isThere } from "./database-file.ts";
import { storeBusy, storeCorrupt, storeError, storeNewer } from "./errors.ts";
import { type Migration, migrate, newestVersion, schemaVersion } from "./migrations.ts";
import type { DatabaseOptions } from "./open-database.ts";

/** A database that is open for reading alone. */
export interface ReadDatabase {
  readonly db: Database.Database;
  /** It is a copy that was taken when it was opened: what others write is not seen in it. */
  readonly isCopy: boolean;
}

/** The reader cannot write the shared memory beside the database, as on a full or a read-only disk. */
const NO_SHARED_MEMORY = /^SQLITE_(CANTOPEN|READONLY|FULL|IOERR_SHM)/;
/** Write and read version; 1 stands for a database without a write-ahead log (sqlite.org/fileformat.html §1.3). */
const FORMAT_OFFSETS = [18, 19] as const;
const MAX_TRIES = 5;
const READ_CACHE_KIB = 1024;

/** A database in memory with the content of `bytes` and the newest schema; nothing can be written to it. */
function copyOf(path: string, bytes: Buffer, migrations: readonly Migration[]): ReadDatabase {
  // A database in memory cannot have a write-ahead log (sqlite.org/c3ref/deserialize.html).
  for (const offset of FORMAT_OFFSETS) bytes[offset] = 1;
  // Errors name the file that was copied.
  const db: Database.Database = Object.create(new Database(bytes), { name: { value: path } });
  migrate(db, migrations);
  db.pragma("query_only = ON");
  return { db, isCopy: true };
}

function stampOf(path: string): string {
  const { ino, size, mtimeNs } = statSync(path, { bigint: true });
  return `${ino} ${size} ${mtimeNs}`;
}

/** The bytes of a database that nobody wrote meanwhile. @throws AoError store_busy when somebody always did. */
function readWhole(path: string): Buffer {
  for (let tries = 1; tries <= MAX_TRIES; tries++) {
    const before = stampOf(path);
    const bytes = readFileSync(path);
    if (!hasUnmergedLog(path) && stampOf(path) === before) return bytes;
  }
  throw storeBusy(path);
}

function connect({ path, busyTimeoutMs, migrations }: DatabaseOptions): ReadDatabase {
  const db = new Database(path, { readonly: true, fileMustExist: true, timeout: busyTimeoutMs });
  try {
    // What is read once is not worth the 16 MB that better-sqlite3 12 keeps of it.
    db.pragma(`cache_size = -${READ_CACHE_KIB}`);
    const version = schemaVersion(db);
    const newest = newestVersion(migrations);
    if (version > newest) throw storeNewer(path, version);
    if (version === newest) return { db, isCopy: false };
    const copy = copyOf(path, db.serialize(), migrations);
    db.close();
    return copy;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Without room or right for a file beside the database SQLite reads none; then its bytes are read as they are. */
function connectAnyhow(options: DatabaseOptions): ReadDatabase {
  try {
    return connect(options);
  } catch (error) {
    const isReadable = error instanceof Database.SqliteError && NO_SHARED_MEMORY.test(error.code);
    if (!isReadable || hasUnmergedLog(options.path)) throw error;
    return copyOf(options.path, readWhole(options.path), options.migrations);
  }
}

/**
 * Opens the database at `path` for reading alone, also on a full disk and where nothing may be written. One
 * with an older schema is read as its migration would leave it, and stays as it is.
 *
 * @throws AoError store_corrupt, store_newer, store_busy or data_dir_unusable; the last also when it is not there.
 */
export function readDatabase(options: DatabaseOptions): ReadDatabase {
  const { path, migrations } = options;
  try {
    if (!isThere(path) && hasUnmergedLog(path)) {
      throw storeCorrupt(path, "is gone, but its write-ahead log is still there");
    }
    checkDatabaseFile(path, newestVersion(migrations));
    return connectAnyhow(options);
  } catch (error) {
    throw storeError(error, path);
  }
}
