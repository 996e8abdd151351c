import { closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import Database from "better-sqlite3";
import { hasErrorCode } from "../../domain/error-code.ts";
import { AoError, errorMessage } from "../../domain/errors.ts";

/** A lock that this process holds. */
export interface HeldFile {
  release(): void;
}

/** A lock file that is open, to be tried again and again. */
export interface OpenLockFile {
  /** Takes the lock; `undefined` when another holds it, in this process or in another. */
  tryLock(): HeldFile | undefined;
  /** Not after `tryLock` took it. */
  close(): void;
}

/**
 * Opens the lock file at a path, mode 0600, and makes it when it is missing. It stays empty and is never
 * removed: a lock on a removed file would be no lock.
 *
 * The lock is SQLite's own RESERVED lock of an empty database: a POSIX lock (fcntl(2)) with the care that it
 * needs between the threads and handles of one process (sqlite.org/lockingv3.html). The system takes it from
 * a process that ends, however it ends.
 *
 * @throws AoError data_dir_unusable when it cannot be used.
 */
export function openLockFile(path: string): OpenLockFile {
  const db = usable(path, () => {
    makeFile(path);
    return new Database(path, { timeout: 0, fileMustExist: true });
  });
  const close = () => void db.close();
  return {
    close,
    tryLock() {
      try {
        db.exec("BEGIN IMMEDIATE");
      } catch (error) {
        if (error instanceof Database.SqliteError && error.code.startsWith("SQLITE_BUSY")) return undefined;
        close();
        throw unusable(path, error);
      }
      return { release: close };
    },
  };
}

/** To close a descriptor of a file would give up the locks that this process has on it, so only a new one is. */
function makeFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    if (!hasErrorCode(error, "EEXIST")) throw error;
  }
}

function usable<Result>(path: string, open: () => Result): Result {
  try {
    return open();
  } catch (error) {
    throw unusable(path, error);
  }
}

function unusable(path: string, cause: unknown): AoError {
  return new AoError("data_dir_unusable", `the lock ${path} cannot be taken: ${errorMessage(cause)}`, {
    hint: "ao doctor",
    cause,
  });
}
