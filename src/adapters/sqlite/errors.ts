import Database from "better-sqlite3";
import { AoError, errorMessage } from "../../domain/errors.ts";

type Translate = (path: string, cause: unknown) => AoError;

/** Another process kept the database at `path` from being used in time. */
export function storeBusy(path: string, cause?: unknown): AoError {
  return new AoError("store_busy", `another process is writing to ${path}`, {
    hint: "run the command again in a moment",
    details: { path },
    cause,
  });
}

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

/** A row cannot be read; those beside it can. `what` is a clause that names it. */
export function rowUnreadable(path: string, what: string): AoError {
  return new AoError("store_corrupt", `the database ${path} ${what}`, {
    hint: "the row is left as it is, and the others work on; a backup of the database may have it whole",
    details: { path },
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

const incomplete: Translate = (path, cause) =>
  storeCorrupt(path, `lacks a part: ${errorMessage(cause)}`, { cause });

const unusable =
  (what: string): Translate =>
  (path, cause) =>
    storeUnusable(path, what, { cause });

interface ErrorRow {
  /** A result code, or the beginning it shares with its extended ones (sqlite.org/rescode.html). */
  readonly code: string;
  /** Of errors with that code, those whose text says so; all when not given. */
  readonly says?: RegExp;
  readonly translate: Translate;
}

/** What each failure of SQLite means; the first row that fits counts, and what fits none is a mistake of `ao`. */
const MEANINGS: readonly ErrorRow[] = [
  { code: "SQLITE_IOERR_CORRUPTFS", translate: corrupt },
  { code: "SQLITE_CORRUPT", translate: corrupt },
  { code: "SQLITE_NOTADB", translate: corrupt },
  // The schema number says that it is there: somebody took it away.
  { code: "SQLITE_ERROR", says: /no such (table|column|index)|has no column named/, translate: incomplete },
  { code: "SQLITE_BUSY", translate: storeBusy },
  { code: "SQLITE_LOCKED", translate: storeBusy },
  { code: "SQLITE_PROTOCOL", translate: storeBusy },
  { code: "SQLITE_FULL", translate: unusable("no space is left for the database") },
  { code: "SQLITE_IOERR_SHMSIZE", translate: unusable("no space is left for the database") },
  { code: "SQLITE_READONLY", translate: unusable("cannot write the database") },
  { code: "SQLITE_PERM", translate: unusable("cannot write the database") },
  { code: "SQLITE_CANTOPEN", translate: unusable("cannot open the database") },
  { code: "SQLITE_NOLFS", translate: unusable("the file system cannot hold the database") },
  { code: "SQLITE_IOERR", translate: unusable("the disk failed under the database") },
];

function meaningOf({ code, message }: InstanceType<typeof Database.SqliteError>): Translate | undefined {
  const row = MEANINGS.find((each) => code.startsWith(each.code) && (each.says?.test(message) ?? true));
  return row?.translate;
}

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
    const meaning = meaningOf(error);
    if (meaning !== undefined) return meaning(path, error);
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
