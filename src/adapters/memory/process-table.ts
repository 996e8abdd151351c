import { AoError } from "../../domain/errors.ts";
import type { ProcessFact } from "../../domain/facts.ts";
import type { ProcessIdentity } from "../../domain/session.ts";
import type { EnvMarker, ProcessTable, ProcessUse } from "../../ports/process-table.ts";

type Signal = Parameters<ProcessTable["signal"]>[1];

const CALLER_PID = 100;

export interface MemoryProcess {
  /** The next free one when not given. */
  readonly pid?: number;
  /** `start-<pid>-<n>` when not given. */
  readonly startTime?: string;
  /** 1 when not given. */
  readonly parentPid?: number;
  readonly command?: string;
  readonly cwd?: string;
  /** Files it has open, or runs as its program. */
  readonly files?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Exited and not yet waited for by its parent. */
  readonly zombie?: boolean;
  /** There, but the caller may not look at it. */
  readonly unreadable?: boolean;
  /** Signals that do not end it. */
  readonly survives?: readonly Signal[];
}

export interface SentSignal {
  readonly identity: ProcessIdentity;
  readonly signal: Signal;
}

/** A process table made of data. */
export interface MemoryProcessTable extends ProcessTable {
  /** The process that stands for the caller; its parent is process 1. */
  readonly callerPid: number;
  /** Every signal that reached a process, oldest first. */
  readonly sent: readonly SentSignal[];
  /** Starts a process. A pid that is taken goes over to the new one. */
  add(process?: MemoryProcess): ProcessIdentity;
  /** Ends a process; its children go over to process 1. Unknown pids are no error. */
  kill(pid: number): void;
  /** Changes what is known of a process, for example its `cwd` or `zombie`. */
  change(pid: number, patch: Omit<MemoryProcess, "pid" | "startTime">): void;
  /** Lets every later look fail with this cause, until `null` is given. */
  failWith(cause: string | null): void;
  /** Ends everything but the caller and starts another boot. */
  reboot(): void;
}

interface Entry extends MemoryProcess {
  readonly identity: ProcessIdentity;
  readonly parentPid: number;
}

interface World {
  readonly entries: Map<number, Entry>;
  readonly sent: SentSignal[];
  failure: string | null;
  boot: number;
  started: number;
}

function bootIdOf(world: World): string {
  return `boot-${world.boot}`;
}

function bootWorld(world: World): void {
  world.boot += 1;
  world.entries.clear();
  addTo(world, { pid: 1, parentPid: 0, command: "init", cwd: "/" });
  addTo(world, { pid: CALLER_PID, command: "ao", cwd: "/" });
}

function addTo(world: World, process: MemoryProcess): ProcessIdentity {
  world.started += 1;
  const pid = process.pid ?? Math.max(CALLER_PID, ...world.entries.keys()) + 1;
  const startTime = process.startTime ?? `start-${pid}-${world.started}`;
  const identity = { pid, startTime, bootId: bootIdOf(world) };
  world.entries.set(pid, { ...process, identity, parentPid: process.parentPid ?? 1 });
  return identity;
}

function endIn(world: World, pid: number): void {
  world.entries.delete(pid);
  for (const [childPid, child] of world.entries) {
    if (child.parentPid === pid) world.entries.set(childPid, { ...child, parentPid: 1 });
  }
}

function isSame(entry: Entry | undefined, identity: ProcessIdentity): entry is Entry {
  return (
    entry !== undefined &&
    entry.identity.startTime === identity.startTime &&
    entry.identity.bootId === identity.bootId
  );
}

function factOf(world: World, identity: ProcessIdentity): ProcessFact {
  if (world.failure !== null) return { kind: "probe_failed", cause: world.failure };
  const entry = world.entries.get(identity.pid);
  if (identity.bootId !== bootIdOf(world)) return { kind: "dead", ofAnotherBoot: true };
  if (entry === undefined) return { kind: "dead" };
  if (entry.unreadable === true) return { kind: "indeterminate" };
  return isSame(entry, identity) && entry.zombie !== true ? { kind: "alive" } : { kind: "dead" };
}

function ancestry(world: World, pid: number): ReadonlySet<number> {
  const seen = new Set<number>();
  for (let at = world.entries.get(pid); at && !seen.has(at.identity.pid); ) {
    seen.add(at.identity.pid);
    at = world.entries.get(at.parentPid);
  }
  return seen;
}

function familyIn(
  world: World,
  root: ProcessIdentity | null,
  markers: readonly EnvMarker[],
): ProcessIdentity[] {
  const rootEntry = root === null ? undefined : world.entries.get(root.pid);
  const rootPid = root !== null && isSame(rootEntry, root) ? root.pid : undefined;
  const excepted = ancestry(world, CALLER_PID);
  return [...world.entries.values()]
    .filter(({ identity, zombie }) => zombie !== true && !excepted.has(identity.pid))
    .filter(
      ({ identity, environment }) =>
        markers.every(({ name, value }) => environment?.[name] === value) ||
        (rootPid !== undefined && ancestry(world, identity.pid).has(rootPid)),
    )
    .map(({ identity }) => identity)
    .sort((one, other) => Number(other.pid === rootPid) - Number(one.pid === rootPid));
}

function sendIn(world: World, identity: ProcessIdentity, signal: Signal): void {
  const entry = world.entries.get(identity.pid);
  if (!isSame(entry, identity) || entry.unreadable === true || entry.zombie === true) return;
  world.sent.push({ identity, signal });
  if (signal === "SIGKILL" || entry.survives?.includes(signal) !== true) endIn(world, identity.pid);
}

function isDeafIn(world: World, identity: ProcessIdentity): boolean {
  const entry = world.entries.get(identity.pid);
  return isSame(entry, identity) && entry.zombie !== true && entry.survives?.includes("SIGTERM") === true;
}

function isWithin(directory: string, path: string): boolean {
  return path === directory || path.startsWith(`${directory === "/" ? "" : directory}/`);
}

function insistOn(world: World): void {
  if (world.failure !== null) {
    throw new AoError("runtime_unavailable", `the process table could not be read: ${world.failure}`);
  }
}

function identifyIn(world: World, pid: number): ProcessIdentity | undefined {
  insistOn(world);
  const entry = world.entries.get(pid);
  if (entry?.unreadable === true)
    throw new AoError("runtime_unavailable", `process ${pid} cannot be looked at`);
  return entry === undefined || entry.zombie === true ? undefined : entry.identity;
}

function usersIn(world: World, directory: string): ProcessUse[] {
  insistOn(world);
  return [...world.entries.values()]
    .filter(({ identity, zombie }) => identity.pid !== CALLER_PID && zombie !== true)
    .map(({ identity, command = "sleep", cwd, files = [] }) => {
      const used = [...(cwd === undefined ? [] : [cwd]), ...files];
      return { pid: identity.pid, command, paths: used.filter((path) => isWithin(directory, path)) };
    })
    .filter(({ paths }) => paths.length > 0);
}

function changeIn(world: World, pid: number, patch: Omit<MemoryProcess, "pid" | "startTime">): void {
  const entry = world.entries.get(pid);
  if (entry === undefined) return;
  world.entries.set(pid, { ...entry, ...patch, parentPid: patch.parentPid ?? entry.parentPid });
}

/** The process table as data: processes are added and ended by the test, signals end them at once. */
export function memoryProcessTable(): MemoryProcessTable {
  const world: World = { entries: new Map(), sent: [], failure: null, boot: 0, started: 0 };
  bootWorld(world);
  return {
    callerPid: CALLER_PID,
    sent: world.sent,
    add: (process = {}) => addTo(world, process),
    kill: (pid) => endIn(world, pid),
    change: (pid, patch) => changeIn(world, pid, patch),
    failWith: (cause) => {
      world.failure = cause;
    },
    reboot: () => bootWorld(world),
    identify: async (pid) => identifyIn(world, pid),
    look: async (identities) => identities.map((identity) => factOf(world, identity)),
    family: async (root, ...markers) => {
      insistOn(world);
      return familyIn(world, root, markers);
    },
    signal: async (identity, signal) => sendIn(world, identity, signal),
    deafToTerm: async (identities) => {
      insistOn(world);
      return identities.filter((identity) => isDeafIn(world, identity));
    },
    usersOf: async (directory) => usersIn(world, directory),
  };
}
