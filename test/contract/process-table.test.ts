import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { memoryProcessTable } from "../../src/adapters/memory/process-table.ts";
import { systemProcessTable } from "../../src/adapters/processes/system-process-table.ts";
import type { ProcessIdentity } from "../../src/domain/session.ts";
import { tempDir } from "../support/temp-dir.ts";
import { type ProcessWorld, processTableContract, type StartOptions } from "./process-table.contract.ts";

const SLEEP = "exec sleep 600";
const WRITING_SLEEP = 'exec sleep 600 >>"$WRITES"';
const PAIR = "sleep 600 >/dev/null & echo $!; exec sleep 600 >/dev/null";
const ORPHAN = "(sleep 600 >/dev/null & echo $!)";

function memoryWorld(): ProcessWorld {
  const table = memoryProcessTable();
  const start = async ({ writes, ...options }: StartOptions = {}, parentPid = table.callerPid) =>
    table.add({ ...options, files: writes === undefined ? [] : [writes], parentPid, command: "sleep" });
  const unreaped = new Set<number>();
  return {
    table,
    callerPid: table.callerPid,
    folder: (...names) => `/work/${names.join("/")}`,
    start,
    tellsDeaf: true,
    startDeaf: async () => table.add({ survives: ["SIGTERM"] }),
    startPair: async (options) => {
      const parent = await start(options);
      const child = await start(options, parent.pid);
      unreaped.add(child.pid);
      return [parent, child];
    },
    startOrphan: (options) => start(options, 1),
    end: async ({ pid }) => (unreaped.has(pid) ? table.change(pid, { zombie: true }) : table.kill(pid)),
  };
}

/** Ends a process by its pid when the test is over, if it still is the same one. */
function endLater(world: Pick<ProcessWorld, "table">, identity: ProcessIdentity): ProcessIdentity {
  onTestFinished(() => world.table.signal(identity, "SIGKILL"));
  return identity;
}

async function identityOf(
  world: Pick<ProcessWorld, "table">,
  pid: number | undefined,
): Promise<ProcessIdentity> {
  const identity = await world.table.identify(pid ?? -1);
  if (identity === undefined) throw new Error(`process ${pid} did not start`);
  return endLater(world, identity);
}

function sh(script: string, { environment, cwd, writes = "" }: StartOptions = {}): ChildProcess {
  return spawn("sh", ["-c", script], {
    cwd: cwd ?? "/",
    env: { PATH: process.env["PATH"] ?? "", WRITES: writes, ...environment },
    stdio: ["ignore", "pipe", "ignore"],
  });
}

async function firstLine(child: ChildProcess): Promise<number> {
  const [chunk] = await once(child.stdout ?? child, "data");
  return Number.parseInt(String(chunk), 10);
}

/** Waits until the shell has become the program it was told to become. */
async function becomesSleep(world: Pick<ProcessWorld, "table">, pids: readonly number[]): Promise<void> {
  const sleeping = async () =>
    (await world.table.usersOf("/")).filter(({ pid, command }) => pids.includes(pid) && command === "sleep")
      .length;
  await expect.poll(sleeping).toBe(pids.length);
}

function realWorld(): ProcessWorld {
  const world = { table: systemProcessTable() };
  const base = tempDir();
  const settled = async (pids: readonly number[]) => {
    const identities = await Promise.all(pids.map((pid) => identityOf(world, pid)));
    await becomesSleep(world, pids);
    return identities;
  };
  const one = async (pid: number | undefined) => {
    const [identity] = await settled([pid ?? -1]);
    if (identity === undefined) throw new Error("no process was started");
    return identity;
  };
  return {
    ...world,
    callerPid: process.pid,
    folder: (...names) => {
      const path = join(base, ...names);
      mkdirSync(path, { recursive: true });
      return path;
    },
    start: (options) => one(sh(options?.writes === undefined ? SLEEP : WRITING_SLEEP, options).pid),
    tellsDeaf: process.platform === "linux",
    startDeaf: () => one(sh(`trap '' TERM; ${SLEEP}`).pid),
    startPair: async (options) => {
      const shell = sh(PAIR, options);
      const child = await firstLine(shell);
      return [await one(shell.pid), await one(child)];
    },
    startOrphan: async (options) => {
      const shell = sh(ORPHAN, options);
      const [pid] = await Promise.all([firstLine(shell), once(shell, "exit")]);
      return one(pid);
    },
    end: async (identity) => {
      process.kill(identity.pid, "SIGKILL");
      await expect.poll(() => world.table.look([identity])).toEqual([{ kind: "dead" }]);
    },
  };
}

processTableContract("memory", memoryWorld);
processTableContract("system", realWorld);
