import { parseLsofPaths, parseMarkedPids, parsePsRows } from "./mac-output.ts";
import type { ProcessRow, ProcessSource, Sighting } from "./process-source.ts";

const TIMEOUT_MS = 10_000;
/** Output of `ps -E`: a thousand processes with large environments stay below it. */
const MAX_OUTPUT_BYTES = 256 * 1024 * 1024;
/** The place of these programs on macOS; cron's short PATH lacks `/usr/sbin`. */
const ENVIRONMENT = { PATH: "/usr/bin:/bin:/usr/sbin:/sbin", LC_ALL: "C", TZ: "UTC0" };

const PS_ROWS = ["-axww", "-o", "pid=", "-o", "ppid=", "-o", "stat=", "-o", "lstart=", "-o", "ucomm="];
const PS_MARKED = ["-axwwE", "-o", "pid=", "-o", "command="];
/** All files of all processes: one list is cheaper than `+D`, which walks through a folder for each question. */
const LSOF = ["-w", "-n", "-P", "-F", "pn"];

/** Runs a program and gives its output; rejects when it could not run or printed nothing. */
export type RunProgram = (program: string, args: readonly string[]) => Promise<string>;

// lsof exits 1 whenever one process went away meanwhile, so not the exit status but the output counts.
async function runProgram(program: string, args: readonly string[]): Promise<string> {
  const { execa } = await import("execa");
  const result = await execa(program, args, {
    env: ENVIRONMENT,
    extendEnv: false,
    reject: false,
    stdin: "ignore",
    timeout: TIMEOUT_MS,
    maxBuffer: MAX_OUTPUT_BYTES,
  });
  const isCutOff = result.timedOut || result.isMaxBuffer || result.isTerminated;
  if (isCutOff || result.stdout === "")
    throw new Error(`${program} gave no answer: ${result.stderr || result.shortMessage}`);
  return result.stdout;
}

function sightingOf(row: ProcessRow | undefined): Sighting {
  return row === undefined ? { kind: "absent" } : { kind: "seen", row };
}

/**
 * Processes as `ps`, `lsof` and `sysctl` of macOS show them. Start times have the resolution of a second.
 * The environment of programs protected by the system cannot be read. `run` is for tests.
 */
export function macProcesses(run: RunProgram = runProgram): ProcessSource {
  let bootId: string | undefined;
  const rows = async () => {
    const found = parsePsRows(await run("ps", PS_ROWS));
    if (found.length === 0) throw new Error("ps listed no process");
    return found;
  };
  return {
    bootId: async () => {
      bootId ??= (await run("sysctl", ["-n", "kern.bootsessionuuid"])).trim();
      return bootId;
    },
    sight: async (pids) => {
      const byPid = new Map((await rows()).map((row) => [row.pid, row]));
      return new Map(pids.map((pid) => [pid, sightingOf(byPid.get(pid))]));
    },
    all: rows,
    marked: async (markers) => parseMarkedPids(await run("ps", PS_MARKED), markers),
    uses: async () => parseLsofPaths(await run("lsof", LSOF)),
  };
}
