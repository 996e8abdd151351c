import { describe, expect, test } from "vitest";
import { operationLedger } from "../../../src/lifecycle/operations/ledger.ts";
import type { Clock } from "../../../src/ports/clock.ts";
import { anEvent } from "../../contract/inbox.contract.ts";
import { sessionId } from "../../support/builders.ts";
import { inProcess } from "../../support/crashing.ts";
import { eventSchema, reconcileSchema, showSchema } from "../../support/json-schemas.ts";
import { memoryCli } from "../../support/memory-cli.ts";
import { aWorld, type World } from "../../support/world.ts";

const APP_1 = sessionId("app-1");

function parsed(text: string): unknown {
  return JSON.parse(text);
}

/** A world in which somebody was killed in the middle of a spawn. */
async function brokenOff(): Promise<World> {
  const world = aWorld();
  const { ending } = await inProcess(world, { crashAt: 8 }, (deps) =>
    memoryCli({ ...world, deps }, ["spawn", "42"]),
  );
  expect(ending).toMatchObject({ kind: "crashed" });
  return world;
}

/** Lets another process that lives hold a kill of the session. */
function holdKill(world: World): { finish(): void } {
  const { processes, deps } = world;
  const process = processes.add({ command: "ao" });
  const ledger = operationLedger({ ...deps, self: { process, command: "ao kill app-1" } });
  const begun = ledger.begin({
    ...{ kind: "kill", projectId: world.project.id, sessionId: APP_1, identifyingSessionId: APP_1 },
    ...{ subject: "other", input: null, progress: null },
  });
  if (begun.kind !== "begun") throw new Error(begun.kind);
  return { finish: () => void ledger.complete(begun.operation, null) };
}

describe("reconcile", () => {
  test("says what it took back, what it looked at, and that there was nothing the second time", async () => {
    const world = await brokenOff();
    const first = await memoryCli(world, ["reconcile", "--json"]);
    expect(first).toMatchObject({ exitCode: 0, stderr: "" });
    expect(reconcileSchema.parse(parsed(first.stdout))).toMatchObject({
      observed: 0,
      operations: [{ kind: "spawn", sessionId: "app-1", outcome: "undone" }],
      errors: [],
    });
    const second = await memoryCli(world, ["reconcile"]);
    expect(second).toEqual({ exitCode: 0, stdout: "looked at 0 sessions\n", stderr: "" });
  });

  test("is exit 1 when something could not be done, and says what", async () => {
    const world = await brokenOff();
    world.workspace.failNext("marked", new Error("no luck"));
    const result = await memoryCli(world, ["reconcile"]);
    expect(result).toMatchObject({ exitCode: 1, stderr: "warning: orphans: no luck\n" });
    expect(result.stdout).toMatch(/^spawn of app-1 undone\n/);
  });

  test("touches nothing while there is no store to say what is whose", async () => {
    const world = aWorld();
    await world.spawn();
    world.clearLog();
    const { exitCode, stdout } = await memoryCli(world, ["reconcile", "--json"], { isNew: true });
    expect(exitCode).toBe(0);
    expect(parsed(stdout)).toEqual({
      observed: 0,
      transitions: [],
      operations: [],
      goals: [],
      orphans: [],
      messages: [],
      pool: [],
      setAside: 0,
      errors: [],
    });
    expect(world.log).toEqual([]);
  });
});

describe("events", () => {
  test("reads on only when what it printed was taken", async () => {
    const world = aWorld();
    const { id, projectId } = await world.spawn();
    const change = { atMs: 0, projectId, sessionId: id, type: "filled", data: {} };
    for (let number = 0; number < 1200; number += 1) world.deps.changes.append(change);
    let pages = 0;
    const after = (sequence: number, limit: number) => {
      pages += 1;
      return world.deps.changes.after(sequence, limit);
    };
    const deps = { ...world.deps, changes: { ...world.deps.changes, after } };
    const waiting: (() => void)[] = [];
    const reader = () => new Promise<void>((resolve) => waiting.push(resolve));
    const printed = memoryCli({ ...world, deps }, ["events"], { reader });
    for (const page of [1, 2, 3]) {
      await expect.poll(() => [pages, waiting.length]).toEqual([page, page]);
      waiting.at(-1)?.();
    }
    expect((await printed).stdout.split("\n").length).toBeGreaterThan(1200);
  });

  test("prints each change once, one a line, numbered without gaps", async () => {
    const world = aWorld();
    for (let count = 0; count < 200; count++) await memoryCli(world, ["spawn"]);
    const all = await memoryCli(world, ["events"]);
    const read = all.stdout
      .trimEnd()
      .split("\n")
      .map((line) => eventSchema.parse(parsed(line)));
    expect(read.length).toBeGreaterThan(500);
    expect(read.map(({ sequence }) => sequence)).toEqual(read.map((_, index) => index + 1));
    expect(read.slice(0, 2).map(({ type }) => type)).toEqual(["operation.prepared", "session.created"]);
  });

  test("reads on from a number, and past the last one there is nothing", async () => {
    const world = aWorld();
    await memoryCli(world, ["spawn"]);
    const last = world.deps.changes.last();
    const { stdout } = await memoryCli(world, ["events", "--after", String(last - 1), "--json"]);
    expect(stdout.trimEnd().split("\n")).toHaveLength(1);
    expect(await memoryCli(world, ["events", "--after", String(last)])).toEqual({
      exitCode: 0,
      stdout: "",
      stderr: "",
    });
  });
});

describe("a request id", () => {
  test("makes a repeated spawn return the first session, other arguments are refused", async () => {
    const world = aWorld();
    const argv = ["spawn", "42", "--request-id", "r", "--json"];
    const [first, second] = [await memoryCli(world, argv), await memoryCli(world, argv)];
    expect(second).toEqual(first);
    expect(world.runtime.sessions()).toEqual(["app-1"]);
    const other = await memoryCli(world, ["spawn", "43", "--request-id", "r", "--json"]);
    expect({ exitCode: other.exitCode, ...(parsed(other.stderr) as object) }).toMatchObject({
      exitCode: 4,
      error: { code: "request_conflict" },
    });
  });

  test.each([["kill"], ["restore"]])("makes a repeated %s return the first result", async (name) => {
    const world = aWorld();
    await world.spawn();
    if (name === "restore") await world.kill(APP_1);
    const argv = [name, "app-1", "--request-id", "r", "--json"];
    const [first, second] = [await memoryCli(world, argv), await memoryCli(world, argv)];
    expect(first).toMatchObject({ exitCode: 0, stderr: "" });
    expect(second).toEqual(first);
  });
});

describe("while another process works on a session", () => {
  test.each([["kill"], ["restore"]])("%s is refused with who and since when", async (name) => {
    const world = aWorld();
    await world.spawn();
    if (name === "restore") await world.kill(APP_1);
    holdKill(world);
    const { exitCode, stderr } = await memoryCli(world, [name, "app-1"]);
    expect(exitCode).toBe(4);
    expect(stderr).toMatch(/is under way: process \d+ \(ao kill app-1\) since 2026-/);
  });

  test("kill --wait waits for the other to end", async () => {
    const world = aWorld();
    await world.spawn();
    const other = holdKill(world);
    let looks = 0;
    const sleep: Clock["sleep"] = async (ms, signal) => {
      looks += 1;
      if (looks === 1) other.finish();
      else await world.deps.clock.sleep(ms, signal);
    };
    const deps = { ...world.deps, clock: { ...world.deps.clock, sleep } };
    const result = await memoryCli({ ...world, deps }, ["kill", "app-1", "--wait"]);
    expect(result).toMatchObject({ exitCode: 0, stdout: "app-1 killed, worktree freed\n" });
  });
});

describe("show", () => {
  test("lists the operations of a session, newest first", async () => {
    const world = aWorld();
    await memoryCli(world, ["spawn", "--request-id", "r-1"]);
    world.clock.advance(1000);
    await memoryCli(world, ["kill", "app-1"]);
    const shown = showSchema.parse(parsed((await memoryCli(world, ["show", "app-1", "--json"])).stdout));
    expect(shown.operations).toMatchObject([
      { kind: "kill", state: "completed" },
      { kind: "spawn", state: "completed", requestId: "r-1" },
    ]);
    expect((await memoryCli(world, ["show", "app-1"])).stdout).toMatch(/operation +kill completed 2026-/);
  });
});

describe("doctor", () => {
  async function checkOf(world: World, name: string) {
    const { stdout } = await memoryCli(world, ["doctor", "--json"]);
    const { checks } = parsed(stdout) as { checks: readonly { name: string }[] };
    return checks.find((check) => check.name === name);
  }

  test("names what was left half done, and that reconcile sets it right", async () => {
    const world = await brokenOff();
    expect(await checkOf(world, "operations")).toEqual({
      name: "operations",
      status: "warn",
      detail: "left half done: spawn of app-1",
      fix: "ao reconcile",
    });
    await memoryCli(world, ["reconcile"]);
    expect(await checkOf(world, "operations")).toMatchObject({ status: "pass", detail: "none unfinished" });
  });

  test("does not take what another process works on for left", async () => {
    const world = aWorld();
    await world.spawn();
    holdKill(world);
    expect(await checkOf(world, "operations")).toMatchObject({
      status: "pass",
      detail: "under way: kill of app-1",
    });
  });

  test("counts the hook events that nobody will apply, and says where they lie", async () => {
    const world = aWorld();
    expect(await checkOf(world, "inbox")).toMatchObject({ status: "pass" });
    await world.deps.inbox.put(anEvent());
    const [event] = await world.deps.inbox.pending();
    await world.deps.inbox.setAside([event?.id ?? ""]);
    expect(await checkOf(world, "inbox")).toMatchObject({
      status: "warn",
      detail: expect.stringMatching(/^1 .*\/data\/inbox\/aside$/),
      fix: expect.stringContaining("14 days"),
    });
  });

  test("names runtimes and worktrees of nobody", async () => {
    const world = aWorld();
    await world.spawn();
    expect(await checkOf(world, "orphans")).toMatchObject({ status: "pass", detail: "none" });
    const forgotten = { ...world.deps.store, rows: () => ({ sessions: [], unreadable: [] }) };
    const deps = { ...world.deps, store: forgotten };
    expect(await checkOf({ ...world, deps }, "orphans")).toMatchObject({
      status: "warn",
      detail: expect.stringMatching(/^runtime of app-1 .+; worktree of app-1 /),
      fix: "ao reconcile",
    });
  });
});
