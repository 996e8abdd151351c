import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, onTestFinished, test } from "vitest";
import { type Ao, aoSandbox } from "../support/ao.ts";
import { eventSchema, killSchema, reconcileSchema, spawnSchema } from "../support/json-schemas.ts";

const AO = join(import.meta.dirname, "..", "..", "dist", "ao.js");
const SLEEP = ["--agent", "shell", "--", "sleep", "60"];

function sequencesIn(text: string): readonly number[] {
  const lines = text.split("\n").slice(0, -1);
  return lines.map((line) => eventSchema.parse(JSON.parse(line)).sequence);
}

/** `ao events --follow`, running until the test ends or `stop` is called. */
function following(ao: Ao, argv: readonly string[] = []) {
  const child = spawn(process.execPath, [AO, "events", "--follow", ...argv], { env: ao.env, cwd: ao.root });
  onTestFinished(() => void child.kill("SIGKILL"));
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => {
    text += chunk.toString();
  });
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
  return {
    sequences: () => sequencesIn(text),
    stop(signal: NodeJS.Signals) {
      child.kill(signal);
      return ended;
    },
    /** Reads no further. */
    async closePipe() {
      child.stdout.destroy();
      return ended;
    },
  };
}

/** So many changes that all of them together are far larger than what a process of `ao` takes up. */
function fillLog({ dataDir }: Ao, count: number): void {
  const store = new Database(join(dataDir, "ao.db"));
  const data = JSON.stringify({ filler: "x".repeat(2000) });
  store
    .prepare(
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :count)
       INSERT INTO changes (at, project_id, session_id, type, data) SELECT 0, 'shop', NULL, 'filled', :data FROM n`,
    )
    .run({ count, data });
  store.close();
}

/** The most memory that a process ever had, in megabytes (proc(5), VmHWM). */
function peakMegabytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
}

describe("events --follow", () => {
  test("begins before there is a store, and prints each change of parallel commands once, in order", async () => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    const follower = following(ao);
    const ids = await Promise.all([ao.spawn(cwd, SLEEP), ao.spawn(cwd, SLEEP), ao.spawn(cwd, SLEEP)]);
    await Promise.all(ids.map((id) => ao.json(killSchema, ["kill", id])));
    const all = sequencesIn((await ao.run(["events"])).stdout);
    expect(all).toEqual(all.map((_, index) => index + 1));
    await expect.poll(() => follower.sequences(), { timeout: 10_000 }).toEqual(all);
    expect(await follower.stop("SIGINT")).toBe(130);
  });

  test.runIf(process.platform === "linux")(
    "holds no more of a long log in memory for a reader that pauses, and leaves nothing out",
    async () => {
      const ao = aoSandbox();
      await ao.run(["project", "add", ao.repository()]);
      fillLog(ao, 60_000);
      const child = spawn(process.execPath, [AO, "events", "--follow"], { env: ao.env, cwd: ao.root });
      onTestFinished(() => void child.kill("SIGKILL"));
      await expect.poll(() => child.stdout.readableLength, { timeout: 10_000 }).toBeGreaterThan(0);
      const peaks: number[] = [];
      const isSteady = () => peaks.push(peakMegabytes(child.pid ?? 0)) > 5 && peaks.at(-5) === peaks.at(-1);
      await expect.poll(isSteady, { timeout: 20_000, interval: 100 }).toBe(true);
      let lines = 0;
      child.stdout.on("data", (chunk: Buffer) => {
        lines += chunk.toString().split("\n").length - 1;
      });
      await expect.poll(() => lines, { timeout: 20_000 }).toBeGreaterThanOrEqual(60_000);
      expect(peakMegabytes(child.pid ?? 0)).toBeLessThan(200);
    },
    60_000,
  );

  test("ends quietly when its reader does", async () => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    await ao.spawn(cwd, SLEEP);
    const follower = following(ao, ["--after", "0"]);
    await expect.poll(() => follower.sequences().length, { timeout: 10_000 }).toBeGreaterThan(0);
    const ended = follower.closePipe();
    await ao.spawn(cwd, SLEEP);
    expect(await ended).toBe(0);
  });
});

describe("the command line of operations", () => {
  test("a spawn repeated with its request id is one session", async () => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    const argv = ["spawn", "42", "--request-id", "r", ...SLEEP];
    const first = await ao.json(spawnSchema, argv, { cwd });
    const again = await Promise.all([
      ao.json(spawnSchema, argv, { cwd }),
      ao.json(spawnSchema, argv, { cwd }),
    ]);
    expect(again.map(({ id }) => id)).toEqual([first.id, first.id]);
    expect(ao.tmux("list-sessions", "-F", "#{session_name}")).toBe(first.id);
    const other = await ao.error(["spawn", "43", "--request-id", "r", ...SLEEP], { cwd });
    expect(other).toMatchObject({ exitCode: 4, code: "request_conflict" });
  });

  test("reconcile of a sound data directory does nothing, with or without one", async () => {
    const ao = aoSandbox();
    const nothing = {
      ...{ observed: 0, transitions: [], operations: [], goals: [], messages: [], orphans: [] },
      ...{ pool: [], setAside: 0, errors: [] },
    };
    expect(await ao.json(reconcileSchema, ["reconcile"])).toEqual(nothing);
    await ao.spawn(ao.repository(), SLEEP);
    await ao.json(reconcileSchema, ["reconcile"]);
    expect(await ao.json(reconcileSchema, ["reconcile"])).toEqual({ ...nothing, observed: 1 });
  });
});
