import { type ChildProcess, spawn } from "node:child_process";
import { symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { build } from "esbuild";
import { expect, onTestFinished } from "vitest";
import { tempDir } from "../../../support/temp-dir.ts";

/** A process of its own that takes locks. */
export interface LockProcess {
  readonly pid: number;
  /** What it has printed so far, line by line. */
  lines(): readonly string[];
  /** Ends its input, for which a holder waits. Resolves when it has exited. */
  finish(): Promise<void>;
  /** Ends it as a crash would. Resolves when it is gone. */
  kill(): Promise<void>;
}

const PRELUDE = `
  import { writeSync } from "node:fs";
  import { once } from "node:events";
  import { fileLocks } from "../../../../src/adapters/locks/file-locks.ts";
  import { systemProcessTable } from "../../../../src/adapters/processes/system-process-table.ts";
  const [dir, name, argument] = process.argv.slice(2);
  const say = (text) => writeSync(1, text + "\\n");
  const processes = systemProcessTable();
  const self = { process: await processes.identify(process.pid), command: "ao test " + name };
  const locks = fileLocks({ dir, self, processes });
  const inputEnd = once(process.stdin.resume(), "end");
`;

/** Holds the lock until its input ends. */
export const HOLD = `
  await locks.withLock(name, async () => { say("held"); await inputEnd; }, { waitMs: 10_000 });
  say("freed");
`;

/**
 * Makes a program of `source`, which may use `locks`, `dir`, `name`, `argument`, `say` and `inputEnd`. Node 20
 * runs no TypeScript, so it is bundled into a temporary folder. Returns how to start it.
 */
export async function lockProgram(
  source: string,
): Promise<(dir: string, name: string, argument?: string) => LockProcess> {
  const folder = tempDir("ao-lock-program");
  const outfile = join(folder, "program.mjs");
  symlinkSync(resolve("node_modules"), join(folder, "node_modules"));
  await build({
    stdin: { contents: PRELUDE + source, resolveDir: import.meta.dirname, loader: "ts" },
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    external: ["better-sqlite3", "execa"],
    logLevel: "silent",
  });
  return (dir, name, argument = "") => run(spawn(process.execPath, [outfile, dir, name, argument]));
}

/** Resolves when a holder has it. */
export async function untilHeld(holder: LockProcess): Promise<LockProcess> {
  await expect.poll(() => holder.lines(), { timeout: 10_000 }).toContain("held");
  return holder;
}

function run(child: ChildProcess): LockProcess {
  let printed = "";
  child.stdout?.on("data", (chunk) => {
    printed += chunk;
  });
  child.stderr?.pipe(process.stderr);
  const closed = new Promise<void>((done) => child.on("close", () => done()));
  const kill = async () => {
    child.kill("SIGKILL");
    await closed;
  };
  onTestFinished(kill);
  return {
    pid: child.pid ?? 0,
    lines: () => printed.split("\n").slice(0, -1),
    kill,
    async finish() {
      child.stdin?.end();
      await closed;
    },
  };
}
