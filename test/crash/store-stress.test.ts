import { spawnSync } from "node:child_process";
import {
  closeSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, onTestFinished, test } from "vitest";
import { type Ao, aoSandbox } from "../support/ao.ts";
import { expectSound } from "../support/crash-traces.ts";
import { reconcileSchema } from "../support/json-schemas.ts";
import { makeReadOnly } from "../support/read-only.ts";
import { limitedFiles, smallDisk } from "../support/small-disk.ts";
import { SHELL } from "./crash-scenarios.ts";

const databaseOf = (ao: Ao) => join(ao.dataDir, "ao.db");

/** Commands that change something, all of them about one session. */
const CHANGING: readonly (readonly string[])[] = [
  ["spawn", ...SHELL],
  ["kill", "shop-1"],
  ["restore", "shop-1"],
  ["cleanup"],
  ["reconcile"],
];

/** A sandbox with one session at work. */
async function oneSession() {
  const ao = aoSandbox();
  const cwd = ao.repository();
  await ao.spawn(cwd, SHELL);
  return { ao, cwd };
}

/** What commands must not touch when they cannot use the store. */
function untouchedIn(ao: Ao, cwd: string) {
  const git = (...args: readonly string[]) =>
    spawnSync("git", ["-C", cwd, "-c", "safe.directory=*", ...args], { encoding: "utf8" }).stdout;
  const names = (folder: string) => readdirSync(join(ao.dataDir, folder), { recursive: true }).sort();
  return {
    worktrees: git("worktree", "list", "--porcelain"),
    branches: git("for-each-ref"),
    sessions: ao.tmux("list-panes", "-a", "-F", "#{session_name} #{pane_dead}"),
    folders: names("worktrees"),
    launches: names("launch"),
  };
}

describe("a write lock that another holds", () => {
  test("is waited for by what changes something, and in nobody's way who only reads", async () => {
    const { ao, cwd } = await oneSession();
    const other = new Database(databaseOf(ao));
    onTestFinished(() => void other.close());
    other.exec("BEGIN IMMEDIATE");
    let isHeld = true;
    const changing = Promise.all([ao.spawn(cwd, SHELL), ao.run(["kill", "shop-1"])]).then(([id, killed]) => {
      expect(isHeld).toBe(false);
      expect(killed).toMatchObject({ exitCode: 0, stderr: "" });
      expect(id).toBe("shop-2");
    });
    // Who starts after the two and ends while it is held gives them the time to come to it.
    for (let times = 0; times < 2; times += 1) {
      expect(await ao.run(["list"])).toMatchObject({ exitCode: 0, stderr: "" });
    }
    other.exec("COMMIT");
    isHeld = false;
    await changing;
    expectSound(ao, cwd);
  });
});

describe("a store that cannot be used", () => {
  const rows: readonly (readonly [string, string, (path: string) => void])[] = [
    [
      "of a newer version",
      "store_newer",
      (path) => {
        const db = new Database(path);
        db.pragma("user_version = 999");
        db.close();
      },
    ],
    [
      "that is damaged in the middle",
      "store_corrupt",
      (path) => {
        const db = new Database(path);
        db.pragma("wal_checkpoint(TRUNCATE)");
        db.close();
        const file = openSync(path, "r+");
        writeSync(file, Buffer.alloc(statSync(path).size - 4096, 0x5a), 0, null, 4096);
        closeSync(file);
      },
    ],
  ];

  test.each(rows)("%s is %s for each command, and nothing is removed", async (_what, code, damage) => {
    const { ao, cwd } = await oneSession();
    damage(databaseOf(ao));
    const before = { ...untouchedIn(ao, cwd), store: readFileSync(databaseOf(ao)) };
    for (const argv of [...CHANGING, ["list"], ["events"], ["show", "shop-1"]]) {
      expect(await ao.error(argv, { cwd })).toMatchObject({ exitCode: 5, code });
    }
    expect({ ...untouchedIn(ao, cwd), store: readFileSync(databaseOf(ao)) }).toEqual(before);
  });
});

describe("a data directory that may only be read", () => {
  test("is a clear error for each command that changes something, and nothing is removed", async () => {
    const { ao, cwd } = await oneSession();
    const before = untouchedIn(ao, cwd);
    const { start } = makeReadOnly(ao.dataDir);
    for (const argv of CHANGING) {
      expect(await ao.error(argv, { cwd, start })).toMatchObject({ exitCode: 5, code: "data_dir_unusable" });
    }
    expect(untouchedIn(ao, cwd)).toEqual(before);
  });
});

describe("a disk that is full", () => {
  test("is a clear error, nothing is removed, and once there is room all is set right", async () => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    const disk = smallDisk(ao.dataDir, 4, limitedFiles);
    await ao.spawn(cwd, SHELL);
    await ao.spawn(cwd, SHELL);
    const inWorktree = (id: string) => join(ao.dataDir, "worktrees", "shop", id, "precious.txt");
    for (const id of ["shop-1", "shop-2"]) writeFileSync(inWorktree(id), "mine\n");
    expect((await ao.run(["kill", "shop-2"])).exitCode).toBe(4);
    // Nothing keeps its worktree any more: a cleanup would remove it.
    rmSync(inWorktree("shop-2"));
    disk.fill();
    const before = untouchedIn(ao, cwd);
    for (const argv of CHANGING.map(([name, ...rest]) =>
      name === "restore" ? [name, "shop-2"] : [name ?? "", ...rest],
    )) {
      const { code } = await ao.error(argv, { cwd, start: disk.start });
      expect(["data_dir_unusable", "git_failed"]).toContain(code);
      expect(untouchedIn(ao, cwd)).toEqual(before);
    }
    disk.free();
    await ao.json(reconcileSchema, ["reconcile"]);
    expectSound(ao, cwd);
    await ao.spawn(cwd, SHELL);
    expect(expectSound(ao, cwd).sessions).toHaveLength(2);
  });
});
