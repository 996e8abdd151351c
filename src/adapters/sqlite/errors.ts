import Database from "better-sqlite3";
import { AoError, errorMessage } from "../../domain/errors.ts";

type Translate = (path: string, cause: unknown) => AoError;

const busy: Translate = (path, cause) =>
  new AoError("store_busy", `another process is writing to ${path}`, {
    hint: "run the command again in a moment",
    details: { path },
    cause,
  });

/** The database at `path` is damaged. `what` is a clause about it, without the path. */
export function storeCorrupt(
  path: string,
  what: string,
  options: { readonly cause?: unknown } = {},
): AoError {
  return new AoError("store_corrupt", `the database ${path} ${what}`, {
    hint: "nothing was changed; keep the file and what lies beside it, and put a backup in its place",
    details: { path },
    ...options,
  });
}

/** The database at `path` has a schema that only a later `ao` knows. */
export function storeNewer(path: string, version: number): AoError {
  return new AoError("store_newer", `the database ${path} was written by a newer ao (schema ${version})`, {
    hint: "upgrade ao; nothing was changed",
    details: { path, version },
  });
}

/** The file or its folder cannot be used as it is. */
export function storeUnusable(
  path: string,
  what: string,
  options: { readonly cause?: unknown } = {},
): AoError {
  return new AoError("data_dir_unusable", `${what}: ${path}`, {
    hint: "check the permissions and the free space of the data directory, or set AO_DATA_DIR to another one",
    details: { path },
    ...options,
  });
}

const corrupt: Translate = (path, cause) => storeCorrupt(path, "is damaged", { cause });

const unusable =
  (what: string): Translate =>
  (path, cause) =>
    storeUnusable(path, what, { cause });

/** Primary result codes; an extended code begins with its primary one (sqlite.org/rescode.html). */
const BY_RESULT_CODE: readonly (readonly [code: string, translate: Translate])[] = [
  ["SQLITE_IOERR_CORRUPTFS", corrupt],
  ["SQLITE_BUSY", busy],
  ["SQLITE_LOCKED", busy],
  ["SQLITE_PROTOCOL", busy],
  ["SQLITE_CORRUPT", corrupt],
  ["SQLITE_NOTADB", corrupt],
  ["SQLITE_FULL", unusable("no space is left for the database")],
  ["SQLITE_READONLY", unusable("cannot write the database")],
  ["SQLITE_PERM", unusable("cannot write the database")],
  ["SQLITE_CANTOPEN", unusable("cannot open the database")],
  ["SQLITE_NOLFS", unusable("the file system cannot hold the database")],
  ["SQLITE_IOERR", unusable("the disk failed under the database")],
];

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "errno" in error && "syscall" in error;
}

/** A native addon that was built for another Node, or not at all (better-sqlite3 12, bindings 1.5). */
function isMissingAddon(error: unknown): boolean {
  return (
    error instanceof Error && ("tries" in error || ("code" in error && error.code === "ERR_DLOPEN_FAILED"))
  );
}

/**
 * What a caller of the store is told of `error`: failures of SQLite, of the file system and of the native
 * addon as an `AoError`, everything else as it is.
 */
export function storeError(error: unknown, path: string): unknown {
  if (error instanceof Database.SqliteError) {
    const known = BY_RESULT_CODE.find(([code]) => error.code.startsWith(code));
    if (known !== undefined) return known[1](path, error);
    return new AoError("internal", `the database ${path} failed: ${error.message}`, { cause: error });
  }
  if (isMissingAddon(error)) {
    return new AoError("internal", `better-sqlite3 could not be loaded: ${errorMessage(error)}`, {
      hint: "npm rebuild better-sqlite3",
      cause: error,
    });
  }
  return isSystemError(error) ? storeUnusable(path, "cannot use the database", { cause: error }) : error;
}
