import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { hasErrorCode } from "../../domain/error-code.ts";
import type { EnvMarker } from "../../ports/process-table.ts";
import { isThere } from "./is-there.ts";
import { parseStat } from "./linux-stat.ts";
import { usesOf } from "./linux-uses.ts";
import type { ProcessRow, ProcessSource, Sighting } from "./process-source.ts";

const PID = /^[1-9]\d*$/;

/** The file's content, or `undefined` when it may not be read or went away with its process. */
function readOrNot<Content>(read: () => Content): Content | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

const isGone = (error: unknown) => hasErrorCode(error, "ENOENT", "ESRCH");

function sightOne(procRoot: string, pid: number): Sighting {
  try {
    const row = parseStat(readFileSync(`${procRoot}/${pid}/stat`, "utf8"));
    return row === undefined ? { kind: "unreadable" } : { kind: "seen", row };
  } catch (error) {
    // A /proc mounted with hidepid has no entry for the processes of others, which are alive all the same.
    return isGone(error) && !isThere(pid) ? { kind: "absent" } : { kind: "unreadable" };
  }
}

function listPids(procRoot: string): number[] {
  return readdirSync(procRoot)
    .filter((name) => PID.test(name))
    .map(Number);
}

function listRows(procRoot: string): ProcessRow[] {
  return listPids(procRoot).flatMap((pid) => {
    const sighting = sightOne(procRoot, pid);
    return sighting.kind === "seen" ? [sighting.row] : [];
  });
}

function holdsAll(procRoot: string, pid: number, markers: readonly Buffer[]): boolean {
  const environ = readOrNot(() => readFileSync(join(procRoot, String(pid), "environ")));
  if (environ === undefined) return false;
  const variables = Buffer.concat([Buffer.of(0), environ, Buffer.of(0)]);
  return markers.every((marker) => variables.includes(marker));
}

/**
 * Processes as `/proc` shows them (proc(5), Linux 5.15), read without any child process. An environment is
 * the one the program started with. `procRoot` is for tests.
 */
export function linuxProcesses(procRoot = "/proc"): ProcessSource {
  return {
    bootId: async () => readFileSync(join(procRoot, "sys/kernel/random/boot_id"), "utf8").trim(),
    // Each once: all agents of a server are asked about together with it.
    sight: async (pids) => new Map([...new Set(pids)].map((pid) => [pid, sightOne(procRoot, pid)])),
    all: async () => listRows(procRoot),
    marked: async (markers: readonly EnvMarker[]) => {
      const variables = markers.map(({ name, value }) => Buffer.from(`\0${name}=${value}\0`));
      return new Set(listPids(procRoot).filter((pid) => holdsAll(procRoot, pid, variables)));
    },
    uses: async (directory) =>
      new Map(listPids(procRoot).map((pid) => [pid, usesOf(join(procRoot, String(pid)), directory)])),
  };
}
