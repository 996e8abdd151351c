import {
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { linuxProcesses } from "../../../../src/adapters/processes/linux-processes.ts";
import { processTableOf } from "../../../../src/adapters/processes/process-table-of.ts";
import { tempDir } from "../../../support/temp-dir.ts";

const BOOT_ID = "7c70722f-076f-45e4-9b4e-81c12eff629d";
/** A pid above any that Linux gives out (at most 2^22). */
const PID = 2 ** 22 + 5;
const MARKER = { name: "AO_LAUNCH_ID", value: "l-1" };

interface Entry {
  readonly pid?: number;
  readonly environ?: string;
  readonly cwd?: string;
  readonly exe?: string;
  /** What its file descriptors lead to. */
  readonly opened?: readonly string[];
  readonly maps?: string;
}

/** A folder that looks like /proc as far as it is read. */
function aProc() {
  const root = tempDir();
  mkdirSync(join(root, "sys/kernel/random"), { recursive: true });
  writeFileSync(join(root, "sys/kernel/random/boot_id"), `${BOOT_ID}\n`);
  const add = ({ pid = PID, environ = "", cwd = "/", exe = "/bin/sleep", opened = [], maps = "" }: Entry) => {
    mkdirSync(join(root, String(pid)));
    const counters = "0 ".repeat(13);
    writeFileSync(join(root, String(pid), "stat"), `${pid} (sleep) S 1 1 1 ${counters}1 0 777 0 0\n`);
    writeFileSync(join(root, String(pid), "environ"), environ);
    symlinkSync(cwd, join(root, String(pid), "cwd"));
    symlinkSync(exe, join(root, String(pid), "exe"));
    mkdirSync(join(root, String(pid), "fd"));
    for (const [fd, path] of opened.entries()) symlinkSync(path, join(root, String(pid), "fd", String(fd)));
    writeFileSync(join(root, String(pid), "maps"), maps);
  };
  return { root, add, table: processTableOf(linuxProcesses(root)) };
}

/** Why the program of an entry of the true /proc is not known; `undefined` where it is. */
function codeOf(pid: string): unknown {
  try {
    return readlinkSync(`/proc/${pid}/exe`) && undefined;
  } catch (error) {
    return error instanceof Error && "code" in error ? error.code : error;
  }
}

function openedOrMapped(pid: string): readonly string[] {
  try {
    const maps = readFileSync(`/proc/${pid}/maps`, "utf8");
    return [...readdirSync(`/proc/${pid}/fd`), ...maps.split("\n").filter(Boolean)];
  } catch {
    return [];
  }
}

const identityOf = (pid: number) => ({ pid, startTime: "777", bootId: BOOT_ID });

describe("linuxProcesses", () => {
  test("reads an entry of the folder", async () => {
    const { add, table } = aProc();
    add({});
    expect(await table.identify(PID)).toEqual(identityOf(PID));
  });

  test.each([
    ["cannot be read", (stat: string) => mkdirSync(stat)],
    ["makes no sense", (stat: string) => writeFileSync(stat, "garbage")],
  ])("a process whose stat %s is indeterminate, never dead", async (_what, spoil) => {
    const { root, table } = aProc();
    mkdirSync(join(root, String(PID)));
    spoil(join(root, String(PID), "stat"));
    expect(await table.look([identityOf(PID)])).toEqual([{ kind: "indeterminate" }]);
    await expect(table.identify(PID)).rejects.toMatchObject({ code: "runtime_unavailable" });
  });

  test("a process that /proc hides and kill(2) knows is indeterminate, never dead", async () => {
    const { table } = aProc();
    expect(await table.look([identityOf(process.pid)])).toEqual([{ kind: "indeterminate" }]);
  });

  test("a /proc that is not there is a failed probe for everyone", async () => {
    const table = processTableOf(linuxProcesses(join(tempDir(), "nosuch")));
    const cause = expect.stringContaining("ENOENT");
    const failed = { kind: "probe_failed", cause };
    expect(await table.look([identityOf(PID), identityOf(process.pid)])).toEqual([failed, failed]);
    const unavailable = { code: "runtime_unavailable" };
    await expect(table.family(null, MARKER)).rejects.toMatchObject(unavailable);
    await expect(table.usersOf("/")).rejects.toMatchObject(unavailable);
    await expect(table.signal(identityOf(PID), "SIGTERM")).rejects.toMatchObject(unavailable);
  });

  test.each([
    ["first", "AO_LAUNCH_ID=l-1\0HOME=/\0", true],
    ["last, without an end", "HOME=/\0AO_LAUNCH_ID=l-1", true],
    ["behind bytes that are no text", "A=\xff\0AO_LAUNCH_ID=l-1\0", true],
    ["with a longer value", "AO_LAUNCH_ID=l-1 \0", false],
    ["with a longer name", "XAO_LAUNCH_ID=l-1\0", false],
    ["inside of another value", "A=AO_LAUNCH_ID=l-1\0", false],
    ["behind a newline of another value", "A=\nAO_LAUNCH_ID=l-1\0", false],
    ["nowhere", "", false],
  ])("a marker that stands %s", async (_where, environ, found) => {
    const { add, table } = aProc();
    add({ environ });
    expect(await table.family(null, MARKER)).toEqual(found ? [identityOf(PID)] : []);
  });

  test("who stands in a folder that was removed still is its user", async () => {
    const { add, table } = aProc();
    const gone = join(tempDir(), "app-1");
    add({ cwd: `${gone} (deleted)` });
    expect(await table.usersOf(gone)).toEqual([{ pid: PID, command: "sleep", paths: [gone] }]);
  });

  test("who has a file open, mapped, or as its program uses the folder", async () => {
    const { add, table } = aProc();
    const opened = ["/wt/app-1/a.log", "socket:[1]", "pipe:/wt/app-1", "/wt/app-10/a.log", "/wt/app-1/a.log"];
    add({ pid: PID, opened });
    add({ pid: PID + 1, exe: "/wt/app-1/target/app" });
    const line = "7f0000000000-7f0000001000 r-xp 00000000 08:01 4242                       ";
    add({ pid: PID + 2, maps: `${line}/usr/lib/libc.so\n${line}/wt/app-1/a b.node (deleted)\n${line}\n` });
    add({ pid: PID + 3, opened: ["/wt/app-2/a.log"] });
    const users = await table.usersOf("/wt/app-1");
    expect(users.map(({ pid, paths }) => [pid, paths])).toEqual([
      [PID, ["/wt/app-1/a.log"]],
      [PID + 1, ["/wt/app-1/target/app"]],
      [PID + 2, ["/wt/app-1/a b.node"]],
    ]);
  });

  test("what runs no program, as the threads of the kernel do, is asked for nothing but its folder", async () => {
    const { root, add, table } = aProc();
    add({ cwd: "/wt/app-1", opened: ["/wt/app-1/a.log"] });
    rmSync(join(root, String(PID), "exe"));
    expect(await table.usersOf("/wt/app-1")).toMatchObject([{ pid: PID, paths: ["/wt/app-1"] }]);
  });

  test("one whose program may not be looked at is asked for all the same", async () => {
    const { root, add, table } = aProc();
    add({ opened: ["/wt/app-1/a.log"] });
    rmSync(join(root, String(PID), "exe"));
    mkdirSync(join(root, String(PID), "exe"));
    expect(await table.usersOf("/wt/app-1")).toMatchObject([{ pid: PID, paths: ["/wt/app-1/a.log"] }]);
  });

  // One that is just exiting has given its memory back, and closes its files in the next moment.
  test.runIf(process.platform === "linux")(
    "no entry without a program has anything open or mapped",
    async () => {
      const bare = () => readdirSync("/proc").filter((pid) => /^\d+$/.test(pid) && codeOf(pid) === "ENOENT");
      await expect.poll(() => bare().flatMap(openedOrMapped), { timeout: 10_000 }).toEqual([]);
    },
  );

  test("a folder whose name ends like that mark is not mistaken for a removed one", async () => {
    const { add, table } = aProc();
    const folder = join(tempDir(), "app-1 (deleted)");
    mkdirSync(folder);
    add({ cwd: folder });
    expect(await table.usersOf(folder.replace(" (deleted)", ""))).toEqual([]);
    expect(await table.usersOf(folder)).toHaveLength(1);
  });
});
