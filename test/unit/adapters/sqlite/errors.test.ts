import { readFileSync } from "node:fs";
import Database from "better-sqlite3";
import { describe, expect, test } from "vitest";
import { storeError } from "../../../../src/adapters/sqlite/errors.ts";
import { AoError } from "../../../../src/domain/errors.ts";

const PATH = "/data/ao.db";

function thrownBy(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error("nothing was thrown");
}

describe("storeError", () => {
  test.each([
    ["SQLITE_BUSY", "store_busy"],
    ["SQLITE_BUSY_SNAPSHOT", "store_busy"],
    ["SQLITE_BUSY_RECOVERY", "store_busy"],
    ["SQLITE_LOCKED", "store_busy"],
    ["SQLITE_PROTOCOL", "store_busy"],
    ["SQLITE_CORRUPT", "store_corrupt"],
    ["SQLITE_CORRUPT_INDEX", "store_corrupt"],
    ["SQLITE_NOTADB", "store_corrupt"],
    ["SQLITE_IOERR_CORRUPTFS", "store_corrupt"],
    ["SQLITE_IOERR_WRITE", "data_dir_unusable"],
    ["SQLITE_IOERR_SHMSIZE", "data_dir_unusable"],
    ["SQLITE_FULL", "data_dir_unusable"],
    ["SQLITE_READONLY", "data_dir_unusable"],
    ["SQLITE_READONLY_DBMOVED", "data_dir_unusable"],
    ["SQLITE_CANTOPEN", "data_dir_unusable"],
    ["SQLITE_PERM", "data_dir_unusable"],
    ["SQLITE_NOLFS", "data_dir_unusable"],
  ])("%s is %s, with the file, a hint and the cause", (code, expected) => {
    const cause = new Database.SqliteError("it failed", code);
    expect(storeError(cause, PATH)).toMatchObject({
      code: expected,
      message: expect.stringContaining(PATH),
      hint: expect.any(String),
      details: { path: PATH },
      cause,
    });
  });

  test.each([
    "no such table: sessions",
    "no such column: metadata",
    "table sessions has no column named kind",
  ])("%s is store_corrupt and says so", (text) => {
    expect(storeError(new Database.SqliteError(text, "SQLITE_ERROR"), PATH)).toMatchObject({
      code: "store_corrupt",
      message: expect.stringContaining(text),
      hint: expect.stringContaining("backup"),
    });
  });

  test.each(["SQLITE_CONSTRAINT_NOTNULL", "SQLITE_ERROR"])("%s, a mistake of ao, is internal", (code) => {
    expect(storeError(new Database.SqliteError("bad", code), PATH)).toMatchObject({ code: "internal" });
  });

  test("an error of the file system is data_dir_unusable", () => {
    const cause = thrownBy(() => readFileSync("/nowhere/at/all"));
    expect(storeError(cause, PATH)).toMatchObject({ code: "data_dir_unusable", cause });
  });

  test.each([
    ["for another Node", Object.assign(new Error("NODE_MODULE_VERSION"), { code: "ERR_DLOPEN_FAILED" })],
    ["not at all", Object.assign(new Error("no bindings file"), { tries: ["/a"] })],
  ])("an addon that was built %s says how to build it", (_how, cause) => {
    expect(storeError(cause, PATH)).toMatchObject({ code: "internal", hint: "npm rebuild better-sqlite3" });
  });

  test.each([
    ["an AoError", new AoError("busy", "app-1 is busy")],
    ["a mistake", new TypeError("x is not a function")],
    ["a text", "thrown"],
  ])("%s that the caller's own work threw stays as it is", (_what, error) => {
    expect(storeError(error, PATH)).toBe(error);
  });
});
