import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { sqliteStore } from "../../../../src/adapters/sqlite/store.ts";
import { tempDir } from "../../../support/temp-dir.ts";
import { storeProgram } from "./store-program.ts";

const MINUTE_MS = 60_000;

/** Puts a draft beside the database, as old as said. */
function leaveDraft(path: string, name: string, ageMs: number): string {
  const folder = join(dirname(path), name);
  mkdirSync(folder);
  writeFileSync(join(folder, "ao.db"), "half");
  const at = new Date(Date.now() - ageMs);
  utimesSync(folder, at, at);
  return folder;
}

/** The pid of a process that has ended. */
async function deadPid(): Promise<number> {
  const start = await storeProgram("say(String(process.pid));");
  const process = start("");
  await process.ended;
  return Number(process.lines()[0]);
}

describe("a draft of a database", () => {
  test("that a killed process left is removed by the next command", async () => {
    const path = join(tempDir(), "ao.db");
    const start = await storeProgram(`
      import { makeDraftFolder } from "../../../../src/adapters/sqlite/drafts.ts";
      say(makeDraftFolder(path));
      pause(60_000);
    `);
    const process = start(path);
    await expect.poll(() => process.lines().length, { timeout: 20_000 }).toBe(1);
    await process.kill();
    const [folder = ""] = process.lines();
    const old = new Date(Date.now() - 2 * MINUTE_MS);
    utimesSync(folder, old, old);
    sqliteStore({ path }).close();
    expect(readdirSync(dirname(path))).toEqual(["ao.db"]);
  });

  test.each<[string, string, (dead: number) => string, number]>([
    ["removed", "of a dead process, two minutes old", (dead) => `.ao-new-${dead}-abc`, 2 * MINUTE_MS],
    ["kept", "of a dead process, new", (dead) => `.ao-new-${dead}-abc`, 0],
    ["kept", "of a process that lives", () => `.ao-new-${process.pid}-abc`, 60 * MINUTE_MS],
    ["removed", "of a living pid, a day old", () => `.ao-new-${process.pid}-abc`, 25 * 60 * MINUTE_MS],
    ["kept", "without a pid, an hour old", () => ".ao-new-4k9xQz", 60 * MINUTE_MS],
    ["removed", "without a pid, a day old", () => ".ao-new-4k9xQz", 25 * 60 * MINUTE_MS],
  ])("is %s when it is %s", async (outcome, _whose, nameFor, ageMs) => {
    const path = join(tempDir(), "ao.db");
    const folder = leaveDraft(path, nameFor(await deadPid()), ageMs);
    sqliteStore({ path }).close();
    expect(existsSync(folder)).toBe(outcome === "kept");
  });

  test("is left alone by a command that only reads", async () => {
    const path = join(tempDir(), "ao.db");
    sqliteStore({ path }).close();
    const folder = leaveDraft(path, `.ao-new-${await deadPid()}-abc`, 2 * MINUTE_MS);
    sqliteStore({ path, isReadOnly: true }).close();
    expect(existsSync(folder)).toBe(true);
  });
});
