import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { endServers } from "./place.ts";
import type { Measured, Row } from "./row.ts";

/** What a row measured, or why there is nothing. */
export type Outcome =
  | ({ readonly kind: "measured" } & Measured)
  | { readonly kind: "none"; readonly why: string };

interface Limits {
  readonly limitMs: number;
  readonly ticks: string;
}

const RESULT = "measured.json";
/** Hundreds of thousands of files take a minute and more on a busy disk. */
const REMOVAL_MAX_MS = 110_000;
const MAX_REMOVALS = 10;
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Measures one row in a process of its own, with a temporary directory of its own: one that takes too long is ended
 * with all that it started, and what it made is removed in any case.
 */
export async function measureApart(name: string, { limitMs, ticks }: Limits): Promise<Outcome> {
  if (limitMs <= 0) return { kind: "none", why: "left out, the time of the whole run is over" };
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "ao-bench-")));
  const [program = ""] = process.argv.slice(1);
  const child = spawn(process.execPath, [program, "--row", name, "--ticks", ticks], {
    ...{ detached: true, stdio: ["ignore", "inherit", "inherit"] },
    env: { ...process.env, TMPDIR: folder },
  });
  const interrupted = () => {
    endGroup(child);
    takeDown(folder);
    process.exit(130);
  };
  // Not once: a second one would end this process at once, and leave what is just being taken down.
  for (const signal of SIGNALS) process.on(signal, interrupted);
  try {
    const why = await endOf(child, limitMs);
    return why === null
      ? { kind: "measured", ...JSON.parse(readFileSync(join(folder, RESULT), "utf8")) }
      : { kind: "none", why };
  } finally {
    takeDown(folder);
    // One that came meanwhile is heard in the next turn.
    await sleep(1);
    for (const signal of SIGNALS) process.off(signal, interrupted);
  }
}

/** `null` when it ended well in time. */
function endOf(child: ChildProcess, limitMs: number): Promise<string | null> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      endGroup(child);
      resolve(`ended after ${Math.round(limitMs / 1000)} s`);
    }, limitMs);
    child.once("exit", (status, signal) => {
      clearTimeout(timer);
      resolve(status === 0 ? null : `it failed with ${status ?? signal}`);
    });
  });
}

function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It has just ended.
  }
}

function takeDown(folder: string): void {
  endServers(folder);
  const remove = () => spawnSync("rm", ["-rf", folder], { timeout: REMOVAL_MAX_MS, killSignal: "SIGKILL" });
  let removal = remove();
  // It is in the foreground as well, where a person presses Ctrl-C.
  for (let count = 1; count < MAX_REMOVALS && removal.signal === "SIGINT"; count += 1) removal = remove();
  if (removal.status !== 0) process.stderr.write(`${folder} is not removed whole\n`);
}

/** The other side: measures the row of this name and leaves the result in the temporary directory. */
export async function tellMeasured(rows: readonly Row[], name: string): Promise<void> {
  const row = rows.find((one) => one.name === name);
  if (row === undefined) throw new Error(`there is no row ${name}`);
  const measured = await row.measure();
  writeFileSync(join(tmpdir(), RESULT), JSON.stringify(measured));
}
