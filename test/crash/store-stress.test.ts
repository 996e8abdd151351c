import { spawnSync } from "node:child_process";
import {
  closeSync,
  mkdirSync,
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
import { AO, type Ao, aoSandbox } from "../support/ao.ts";
import { expectSound } from "../support/crash-traces.ts";
import { errorSchema, reconcileSchema } from "../support/json-schemas.ts";
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

/** `--json` before what is for the agent. */
function withJson(argv: readonly string[]): readonly string[] {
  const cut = argv.indexOf("--");
  return cut === -1 ? [...argv, "--json"] : argv.toSpliced(cut, 0, "--json");
}

/** The one line of error of a command that printed nothing else. */
function errorOf(result: {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}) {
  expect(result.stdout).toBe("");
  return { ...errorSchema.parse(JSON.parse(result.stderr)).error, exitCode: result.status };
}

describe("a write lock that another holds for 3 s", () => {
  test("is waited for by what changes something, and in nobody's way who only reads", async () => {
    const { ao, cwd } = await oneSession();
    const other = new Database(databaseOf(ao));
    onTestFinished(() => void other.close());
    other.exec("BEGIN IMMEDIATE");
    let isHeld = true;
    const release = new Promise<void>((resolve) => {
      setTimeout(() => {
        other.exec("COMMIT");
        isHeld = false;
        resolve();
      }, 3000);
    });
    const changing = Promise.all([ao.spawn(cwd, SHELL), ao.run(["kill", "shop-1"])]).then(([id, killed]) => {
      expect(isHeld).toBe(false);
      expect(killed).toMatchObject({ exitCode: 0, stderr: "" });
      expect(id).toBe("shop-2");
    });
    expect(await ao.run(["list"])).toMatchObject({ exitCode: 0, stderr: "" });
    expect(isHeld).toBe(true);
    await Promise.all([release, changing]);
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
  /** Root may write anywhere: then another user takes its place. */
  const UID = process.getuid?.() === 0 ? 65_534 : undefined;

  test("is a clear error for each command that changes something, and nothing is removed", async () => {
    const { ao, cwd } = await oneSession();
    const before = untouchedIn(ao, cwd);
    if (UID !== undefined) spawnSync("chown", ["-R", String(UID), ao.root]);
    const { dataDir } = ao;
    spawnSync("find", [dataDir, "-type", "d", "-exec", "chmod", "500", "{}", "+"]);
    spawnSync("find", [dataDir, "-maxdepth", "1", "-type", "f", "-exec", "chmod", "400", "{}", "+"]);
    onTestFinished(() => void spawnSync("chmod", ["-R", "u+w", dataDir]));
    for (const argv of CHANGING) {
      const json = argv.includes("--")
        ? argv.toSpliced(argv.indexOf("--"), 0, "--json")
        : [...argv, "--json"];
      const options = { cwd, env: ao.env, encoding: "utf8", ...(UID !== undefined && { uid: UID }) } as const;
      const { status, stdout, stderr } = spawnSync(process.execPath, [AO, ...json], options);
      expect(stdout).toBe("");
      const { error } = errorSchema.parse(JSON.parse(stderr));
      expect({ status, code: error.code }).toEqual({ status: 5, code: "data_dir_unusable" });
    }
    expect(untouchedIn(ao, cwd)).toEqual(before);
  });
});

describe("a disk that is full", () => {
  /** Puts the data directory on a small disk of its own; false without the right to. */
  function mountSmallDisk({ dataDir }: Ao): boolean {
    mkdirSync(dataDir, { mode: 0o700 });
    const argv = ["-t", "tmpfs", "-o", "size=4m,mode=700", "tmpfs", dataDir];
    const isMounted = spawnSync("mount", argv).status === 0;
    if (isMounted) onTestFinished(() => void spawnSync("umount", ["-l", dataDir]));
    return isMounted;
  }

  function fill(path: string): void {
    const file = openSync(path, "w");
    for (const size of [65_536, 4096, 512]) {
      try {
        for (;;) writeSync(file, Buffer.alloc(size));
      } catch {
        // Full to this size.
      }
    }
    closeSync(file);
  }

  /** Where no disk can be mounted, no file may grow. */
  const NO_GROWTH = ["-c", 'trap "" XFSZ; ulimit -f 0; exec "$0" "$@"'];

  test("is a clear error, nothing is removed, and once there is room all is set right", async () => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    const isMounted = mountSmallDisk(ao);
    await ao.spawn(cwd, SHELL);
    await ao.spawn(cwd, SHELL);
    const inWorktree = (id: string) => join(ao.dataDir, "worktrees", "shop", id, "precious.txt");
    for (const id of ["shop-1", "shop-2"]) writeFileSync(inWorktree(id), "mine\n");
    expect((await ao.run(["kill", "shop-2"])).exitCode).toBe(4);
    // Nothing keeps its worktree any more: a cleanup would remove it.
    rmSync(inWorktree("shop-2"));
    const filler = join(ao.dataDir, "filler");
    if (isMounted) fill(filler);
    const before = untouchedIn(ao, cwd);
    const onFullDisk = (argv: readonly string[]) => {
      const program = [process.execPath, AO, ...withJson(argv)];
      const [command, args] = isMounted
        ? [program[0] ?? "", program.slice(1)]
        : ["/bin/sh", [...NO_GROWTH, ...program]];
      return spawnSync(command, args, { cwd, env: ao.env, encoding: "utf8" });
    };
    for (const argv of CHANGING.map(([name, ...rest]) =>
      name === "restore" ? [name, "shop-2"] : [name ?? "", ...rest],
    )) {
      expect(["data_dir_unusable", "git_failed"]).toContain(errorOf(onFullDisk(argv)).code);
      expect(untouchedIn(ao, cwd)).toEqual(before);
    }
    rmSync(filler, { force: true });
    await ao.json(reconcileSchema, ["reconcile"]);
    expectSound(ao, cwd);
    await ao.spawn(cwd, SHELL);
    expect(expectSound(ao, cwd).sessions).toHaveLength(2);
  });
});
