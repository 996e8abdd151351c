import { spawn } from "node:child_process";
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { AO, type Ao, aoSandbox } from "../support/ao.ts";
import { reconcileSchema, sessionSchema, spawnSchema } from "../support/json-schemas.ts";

const SLEEP = ["--agent", "shell", "--", "sleep", "60"];

/** `ao reconcile --interval`, running until the test ends or `stop` is called. */
function ticking(ao: Ao) {
  const argv = [AO, "reconcile", "--interval", "100ms", "--json"];
  const child = spawn(process.execPath, argv, { env: ao.env, cwd: ao.root });
  onTestFinished(() => void child.kill("SIGKILL"));
  const text = { out: "", err: "" };
  child.stdout.on("data", (chunk: Buffer) => {
    text.out += chunk.toString();
  });
  child.stderr.on("data", (chunk: Buffer) => {
    text.err += chunk.toString();
  });
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
  const ticks = () =>
    text.out
      .split("\n")
      .slice(0, -1)
      .map((line) => reconcileSchema.parse(JSON.parse(line)));
  const stop = (signal: NodeJS.Signals) => {
    child.kill(signal);
    return ended;
  };
  return { ticks, errors: () => text.err, stop };
}

describe("ao reconcile --interval", () => {
  test("sees a session of later, survives a broken store, and ends with its signal", async () => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    const loop = ticking(ao);
    await expect.poll(() => loop.ticks().length, { timeout: 10_000 }).toBeGreaterThan(1);
    await ao.spawn(cwd, SLEEP);
    await expect.poll(() => loop.ticks().at(-1)?.observed, { timeout: 10_000 }).toBe(1);

    const database = join(ao.dataDir, "ao.db");
    for (const suffix of ["", "-wal", "-shm"]) renameSync(database + suffix, `${database}.away${suffix}`);
    writeFileSync(database, "no database at all, but long enough to be looked at".repeat(100));
    const broken = ticking(ao);
    await expect.poll(() => broken.errors().split("\n").length, { timeout: 10_000 }).toBeGreaterThan(2);
    expect(broken.ticks()).toEqual([]);
    expect(JSON.parse(broken.errors().split("\n")[0] ?? "")).toMatchObject({
      error: { code: "store_corrupt" },
    });
    for (const suffix of ["", "-wal", "-shm"]) renameSync(`${database}.away${suffix}`, database + suffix);
    await expect.poll(() => broken.ticks().at(-1)?.observed, { timeout: 10_000 }).toBe(1);
    expect(await broken.stop("SIGTERM")).toBe(130);
    expect(await loop.stop("SIGINT")).toBe(130);
  });

  test.each(["0", "99ms", "2d", "soon"])("refuses %j", async (interval) => {
    const ao = aoSandbox();
    const error = await ao.error(["reconcile", "--interval", interval]);
    expect(error).toMatchObject({ exitCode: 2, code: "usage" });
  });
});

describe("ao wait", () => {
  test("ends when the agent rests, and not before", async () => {
    const ao = aoSandbox();
    const id = await ao.spawn(ao.repository(), ["--prompt", "say hello\nask which colour\nsay thanks"]);
    expect(await ao.json(sessionSchema, ["wait", id, "--for", "needs_input"])).toMatchObject({
      status: "needs_input",
    });
    expect(await ao.error(["wait", id, "--timeout", "300ms"])).toMatchObject({
      exitCode: 1,
      code: "timeout",
      details: { id, status: "needs_input" },
    });
    await ao.run(["send", id, "blue"]);
    expect(await ao.run(["wait", id])).toMatchObject({ exitCode: 0, stdout: `${id} idle\n` });
  });

  test.each([["nosuch"], [""], ["idle,"]])("refuses the status %j", async (status) => {
    const ao = aoSandbox();
    expect(await ao.error(["wait", "app-1", "--for", status])).toMatchObject({ exitCode: 2, code: "usage" });
  });
});

describe("ao spawn --wait", () => {
  test("prints the session as it is when the agent rests", async () => {
    const ao = aoSandbox();
    const argv = ["spawn", "--wait", "--timeout", "1m", "--prompt", "say hello"];
    expect(await ao.json(spawnSchema, argv, { cwd: ao.repository() })).toMatchObject({ status: "idle" });
  });

  test("tells which session goes on when the time is over", async () => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    const argv = ["spawn", "--wait", "merged", "--timeout", "200ms", ...SLEEP];
    const { exitCode, stdout, stderr } = await ao.run(argv, { cwd });
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(/SESSION=shop-1\n$/);
    expect(stderr).toMatch(/^ao: shop-1 did not become merged in time: it is .*$/m);
    const error = await ao.error(["spawn", "--wait", "merged", "--timeout", "200ms", ...SLEEP], { cwd });
    expect(error).toMatchObject({ code: "timeout", details: { id: "shop-2" } });
  });

  test.each([
    [["--timeout", "1s"], /--wait/],
    [["--wait", "nosuch"], /status/],
  ])("refuses %j before anything is made", async (flags, message) => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    const before = await ao.traces(cwd);
    const error = await ao.error(["spawn", ...flags], { cwd });
    expect(error).toMatchObject({ exitCode: 2, message: expect.stringMatching(message) });
    expect(await ao.traces(cwd)).toEqual(before);
  });
});

describe("ao restore --all-lost", () => {
  test("tells what it could not bring back, and leaves it as it was", async () => {
    const ao = aoSandbox();
    const id = await ao.spawn(ao.repository(), SLEEP);
    ao.tmux("kill-server");
    const { exitCode, stdout } = await ao.run(["restore", "--all-lost"]);
    expect([exitCode, stdout]).toEqual([1, expect.stringMatching(new RegExp(`^${id} failed: .+\n$`))]);
    const value = JSON.parse((await ao.run(["restore", "--all-lost", "--json"])).stdout);
    expect(value).toMatchObject({ restored: [], failed: [{ id, code: "agent_session_unknown" }], left: [] });
  });

  test("is refused with a session or with flags of one restore", async () => {
    const ao = aoSandbox();
    for (const argv of [["app-1", "--all-lost"], [], ["--all-lost", "--fresh"], ["--all-lost", "--wait"]]) {
      expect(await ao.error(["restore", ...argv])).toMatchObject({ exitCode: 2, code: "usage" });
    }
  });
});
