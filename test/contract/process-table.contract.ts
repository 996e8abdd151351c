import { describe, expect, test } from "vitest";
import type { ProcessFact } from "../../src/domain/facts.ts";
import type { ProcessIdentity } from "../../src/domain/session.ts";
import type { EnvMarker, ProcessTable } from "../../src/ports/process-table.ts";

export interface StartOptions {
  readonly environment?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** A file to hold open for writing. */
  readonly writes?: string;
}

/** A process table and the means to give it processes; everything started is ended with the test. */
export interface ProcessWorld {
  readonly table: ProcessTable;
  readonly callerPid: number;
  /** A folder that is there, for example to start a process in. */
  folder(...names: readonly string[]): string;
  /** Starts a child of the caller that stays. */
  start(options?: StartOptions): Promise<ProcessIdentity>;
  /** Whether the system tells what signals a process ignores. */
  readonly tellsDeaf: boolean;
  /** Starts a child of the caller that ignores SIGTERM. */
  startDeaf(): Promise<ProcessIdentity>;
  /** Starts a child of the caller and a child of that one; both stay. */
  startPair(options?: StartOptions): Promise<readonly [parent: ProcessIdentity, child: ProcessIdentity]>;
  /** Starts a process whose parent is gone. */
  startOrphan(options?: StartOptions): Promise<ProcessIdentity>;
  /** Ends a process and waits until it is gone, or a zombie when its parent does not wait for it. */
  end(identity: ProcessIdentity): Promise<void>;
}

const MARKER: EnvMarker = { name: "AO_LAUNCH_ID", value: "launch-1" };
const ALIVE: ProcessFact = { kind: "alive" };
const DEAD: ProcessFact = { kind: "dead" };

const markedWith = (value: string) => ({ environment: { AO_LAUNCH_ID: value } });
const another = (identity: ProcessIdentity): ProcessIdentity => ({ ...identity, startTime: "1" });
const ofAnotherBoot = (identity: ProcessIdentity): ProcessIdentity => ({ ...identity, bootId: "another" });

function identityContract(open: () => ProcessWorld): void {
  test("a process has one identity for as long as it lives", async () => {
    const world = open();
    const identity = await world.start();
    expect(identity).toEqual({
      pid: identity.pid,
      startTime: expect.any(String),
      bootId: expect.any(String),
    });
    expect(await world.table.identify(identity.pid)).toEqual(identity);
  });

  test("two processes of one boot share the boot id", async () => {
    const world = open();
    const [one, other] = [await world.start(), await world.start()];
    expect(one.bootId).toBe(other.bootId);
    expect(one.pid).not.toBe(other.pid);
  });

  test.each([0, -1, 1.5, Number.NaN, 2 ** 40])("no process has the pid %d", async (pid) => {
    expect(await open().table.identify(pid)).toBeUndefined();
  });

  test("a process that ended has no identity, neither has a zombie", async () => {
    const world = open();
    const [alone, [, zombie]] = [await world.start(), await world.startPair()];
    await world.end(alone);
    await world.end(zombie);
    expect(await world.table.identify(alone.pid)).toBeUndefined();
    expect(await world.table.identify(zombie.pid)).toBeUndefined();
  });
}

function lookContract(open: () => ProcessWorld): void {
  test("the answers come in the order of the questions", async () => {
    const world = open();
    const [living, gone] = [await world.start(), await world.start()];
    await world.end(gone);
    expect(await world.table.look([gone, living, gone, living, living])).toEqual([
      DEAD,
      ALIVE,
      DEAD,
      ALIVE,
      ALIVE,
    ]);
    expect(await world.table.look([])).toEqual([]);
  });

  test("another start time or another boot is another process, which is dead", async () => {
    const world = open();
    const living = await world.start();
    expect(await world.table.look([another(living), ofAnotherBoot(living), living])).toEqual([
      DEAD,
      { ...DEAD, ofAnotherBoot: true },
      ALIVE,
    ]);
  });

  test("a zombie is dead", async () => {
    const world = open();
    const [parent, child] = await world.startPair();
    await world.end(child);
    expect(await world.table.look([parent, child])).toEqual([ALIVE, DEAD]);
  });

  test("a pid that no process can have is dead", async () => {
    const world = open();
    const { bootId } = await world.start();
    const pids = [0, -1, 2 ** 40];
    const identities = pids.map((pid) => ({ pid, startTime: "1", bootId }));
    expect(await world.table.look(identities)).toEqual([DEAD, DEAD, DEAD]);
  });
}

function familyContract(open: () => ProcessWorld): void {
  test("the family is the root first, then its descendants, and no stranger", async () => {
    const world = open();
    const [parent, child] = await world.startPair();
    await world.start();
    expect(await world.table.family(parent, MARKER)).toEqual([parent, child]);
  });

  test("a process whose parent is gone belongs by its marker", async () => {
    const world = open();
    const root = await world.start(markedWith("launch-1"));
    const orphan = await world.startOrphan(markedWith("launch-1"));
    expect(await world.table.family(root, MARKER)).toEqual([root, orphan]);
    expect(new Set(await world.table.family(null, MARKER))).toEqual(new Set([root, orphan]));
  });

  test("the marker counts only with its whole name and its whole value", async () => {
    const world = open();
    await world.start(markedWith("launch-10"));
    await world.start(markedWith("xlaunch-1"));
    await world.start({ environment: { MY_AO_LAUNCH_ID: "launch-1", OTHER: "AO_LAUNCH_ID=launch-1" } });
    expect(await world.table.family(null, MARKER)).toEqual([]);
  });

  test("of several markers all have to be there", async () => {
    const world = open();
    const other = { name: "AO_SESSION_ID", value: "app-1" };
    const both = await world.start({ environment: { AO_LAUNCH_ID: "launch-1", AO_SESSION_ID: "app-1" } });
    await world.start({ environment: { AO_LAUNCH_ID: "launch-1", AO_SESSION_ID: "app-2" } });
    await world.start(markedWith("launch-1"));
    await world.start({ environment: { AO_SESSION_ID: "app-1" } });
    expect(await world.table.family(null, MARKER, other)).toEqual([both]);
    expect(await world.table.family(null, other, MARKER)).toEqual([both]);
  });

  test("what a dead root left behind belongs only by its marker", async () => {
    const world = open();
    const [parent, child] = await world.startPair();
    await world.end(parent);
    expect(await world.table.family(parent, MARKER)).toEqual([]);
    expect(await world.table.look([child])).toEqual([ALIVE]);
  });

  test("the children of another process with the root's pid do not belong", async () => {
    const world = open();
    const [parent] = await world.startPair();
    expect(await world.table.family(another(parent), MARKER)).toEqual([]);
    expect(await world.table.family(ofAnotherBoot(parent), MARKER)).toEqual([]);
  });

  test("a zombie does not belong", async () => {
    const world = open();
    const [parent, child] = await world.startPair(markedWith("launch-1"));
    await world.end(child);
    expect(await world.table.family(parent, MARKER)).toEqual([parent]);
  });

  test("the caller and its ancestors do not belong, its other children do", async () => {
    const world = open();
    const child = await world.start();
    for (const pid of [world.callerPid, 1]) {
      const root = await world.table.identify(pid);
      const pids = (await world.table.family(root ?? null, MARKER)).map((member) => member.pid);
      expect(pids).not.toContain(world.callerPid);
      expect(pids).not.toContain(1);
      if (pid === world.callerPid) expect(pids).toContain(child.pid);
    }
  });
}

function signalContract(open: () => ProcessWorld): void {
  test.each(["SIGTERM", "SIGHUP", "SIGKILL", "SIGUSR1"] as const)(
    "%s reaches the process, a second one is no error",
    async (name) => {
      const world = open();
      const identity = await world.start();
      await world.table.signal(identity, name);
      await expect.poll(() => world.table.look([identity])).toEqual([DEAD]);
      await world.table.signal(identity, name);
    },
  );

  test("a process of another start time or another boot is never signalled", async () => {
    const world = open();
    const identity = await world.start();
    await world.table.signal(another(identity), "SIGKILL");
    await world.table.signal(ofAnotherBoot(identity), "SIGKILL");
    expect(await world.table.look([identity])).toEqual([ALIVE]);
  });

  test.each([0, -1])("the pid %d signals nobody", async (pid) => {
    const world = open();
    const identity = await world.start();
    await world.table.signal({ ...identity, pid }, "SIGKILL");
    expect(await world.table.look([identity])).toEqual([ALIVE]);
  });
}

function deafContract(open: () => ProcessWorld): void {
  test("what ignores TERM is told from what does not, and from what is dead or another", async () => {
    const world = open();
    const [deaf, hearing, dead] = [await world.startDeaf(), await world.start(), await world.startDeaf()];
    await world.end(dead);
    const asked = [deaf, hearing, dead, another(deaf), ofAnotherBoot(deaf)];
    expect(await world.table.deafToTerm(asked)).toEqual(world.tellsDeaf ? [deaf] : []);
    expect(await world.table.deafToTerm([])).toEqual([]);
  });
}

function usersContract(open: () => ProcessWorld): void {
  test("a folder is used from itself and from below, not from beside", async () => {
    const world = open();
    const [folder, below, beside] = [
      world.folder("app-1"),
      world.folder("app-1", "src"),
      world.folder("app-10"),
    ];
    const inside = await world.start({ cwd: folder });
    const deeper = await world.start({ cwd: below });
    await world.start({ cwd: beside });
    const users = await world.table.usersOf(folder);
    expect(users.map(({ pid }) => pid).sort()).toEqual([inside.pid, deeper.pid].sort());
    expect(users.map(({ command }) => command)).toEqual(["sleep", "sleep"]);
    expect(users.flatMap(({ paths }) => paths).sort()).toEqual([folder, below]);
  });

  test("a folder is used by who writes to a file in it from elsewhere, once for all that it uses", async () => {
    const world = open();
    const [folder, elsewhere] = [world.folder("app-1"), world.folder("app-2")];
    const writes = `${folder}/build.log`;
    const outside = await world.start({ cwd: elsewhere, writes });
    const inside = await world.start({ cwd: folder, writes });
    const users = await world.table.usersOf(folder);
    expect(Object.fromEntries(users.map(({ pid, paths }) => [pid, paths]))).toEqual({
      [outside.pid]: [writes],
      [inside.pid]: [folder, writes],
    });
    expect((await world.table.usersOf(elsewhere)).map(({ paths }) => paths)).toEqual([[elsewhere]]);
  });

  test("a folder that nobody uses has no users", async () => {
    const world = open();
    expect(await world.table.usersOf(world.folder("app-1"))).toEqual([]);
  });

  test("the caller is no user, everything below the root folder else is", async () => {
    const world = open();
    const started = await world.start({ cwd: world.folder("app-1") });
    const pids = (await world.table.usersOf("/")).map(({ pid }) => pid);
    expect(pids).toContain(started.pid);
    expect(pids).not.toContain(world.callerPid);
  });

  test("a process that ended is no user", async () => {
    const world = open();
    const folder = world.folder("app-1");
    await world.end(await world.start({ cwd: folder }));
    expect(await world.table.usersOf(folder)).toEqual([]);
  });
}

/** What every `ProcessTable` owes its callers. */
export function processTableContract(name: string, open: () => ProcessWorld): void {
  describe(`${name} is a ProcessTable`, () => {
    describe("identify", () => identityContract(open));
    describe("look", () => lookContract(open));
    describe("family", () => familyContract(open));
    describe("signal", () => signalContract(open));
    describe("deafToTerm", () => deafContract(open));
    describe("usersOf", () => usersContract(open));
  });
}
