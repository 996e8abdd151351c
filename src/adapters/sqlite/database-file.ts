import { closeSync, fstatSync, lstatSync, openSync, readSync, statSync } from "node:fs";
import { storeCorrupt, storeNewer, storeUnusable } from "./errors.ts";

/** `aodb`: marks a database as one of `ao` (pragma application_id, offset 68 of the file). */
export const APPLICATION_ID = 0x616f6462;

/** The first bytes of every SQLite 3 file (sqlite.org/fileformat.html §1.3, as are the offsets below). */
const MAGIC = Buffer.from("SQLite format 3\0", "latin1");
const HEADER_BYTES = 100;
const USER_VERSION_OFFSET = 60;
const APPLICATION_ID_OFFSET = 68;

function readHeader(path: string): Buffer {
  const file = openSync(path, "r");
  try {
    if (!fstatSync(file).isFile()) throw storeUnusable(path, "the database is not a file");
    const header = Buffer.alloc(HEADER_BYTES);
    return header.subarray(0, readSync(file, header, 0, HEADER_BYTES, 0));
  } finally {
    closeSync(file);
  }
}

/** Whether anything is at `path`, a dangling link included. */
export function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/**
 * Whether changes are waiting in the write-ahead log beside `path`. SQLite deletes the log with its last
 * user, so a log without a database means that the database was lost.
 */
export function hasUnmergedLog(path: string): boolean {
  return (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

/**
 * Refuses a file that is no database of this `ao`, before SQLite is let near it: SQLite takes an empty file
 * for a new database and then deletes the write-ahead log beside it.
 *
 * @throws AoError store_corrupt when it is empty, cut off within its header, or no database at all.
 * @throws AoError data_dir_unusable when it is a database of another program.
 * @throws AoError store_newer when its schema is newer than `newest`.
 */
export function checkDatabaseFile(path: string, newest: number): void {
  const header = readHeader(path);
  if (header.length === 0) throw storeCorrupt(path, "is empty");
  if (header.length < HEADER_BYTES || !header.subarray(0, MAGIC.length).equals(MAGIC)) {
    throw storeCorrupt(path, "is not a database any more");
  }
  if (header.readInt32BE(APPLICATION_ID_OFFSET) !== APPLICATION_ID) {
    throw storeUnusable(path, "the database belongs to another program");
  }
  const version = header.readInt32BE(USER_VERSION_OFFSET);
  if (version > newest) throw storeNewer(path, version);
}
