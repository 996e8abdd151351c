import { type ChildProcess, spawn } from "node:child_process";
import { symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { build } from "esbuild";
import { onTestFinished } from "vitest";
import { tempDir } from "../../../support/temp-dir.ts";

/** A process that runs on the store, beside the test's own. */
export interface StoreProcess {
  /** What it has printed so far, without its last, unfinished line. */
  lines(): readonly string[];
  /** Ends it as a crash would. Resolves when it is gone. */
  kill(): Promise<void>;
  /** Resolves when it ended by itself; rejects with what it printed when it failed. */
  readonly ended: Promise<void>;
}

const PRELUDE = `
  import { existsSync, writeSync } from "node:fs";
  import { openDatabase } from "../../../../src/adapters/sqlite/open-database.ts";
  import { MIGRATIONS } from "../../../../src/adapters/sqlite/migrations.ts";
  import { sqliteStore } from "../../../../src/adapters/sqlite/store.ts";
  const [path, argument] = process.argv.slice(2);
  const say = (text) => writeSync(1, text + "\\n");
  const pause = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
`;

/**
 * Makes a program of `source`, which may use `path`, `argument`, `say`, `pause`, `existsSync` and the store.
 * Node 20 runs no TypeScript, so it is bundled into a temporary folder. Returns how to start it.
 */
export async function storeProgram(
  source: string,
): Promise<(path: string, argument?: string) => StoreProcess> {
  const folder = tempDir("ao-store-program");
  const outfile = join(folder, "program.mjs");
  symlinkSync(resolve("node_modules"), join(folder, "node_modules"));
  await build({
    stdin: { contents: PRELUDE + source, resolveDir: import.meta.dirname, loader: "ts" },
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    external: ["better-sqlite3"],
    logLevel: "silent",
  });
  return (path, argument = "") => run(spawn(process.execPath, [outfile, path, argument]));
}

function run(child: ChildProcess): StoreProcess {
  let printed = "";
  let complaints = "";
  child.stdout?.on("data", (chunk) => {
    printed += chunk;
  });
  child.stderr?.on("data", (chunk) => {
    complaints += chunk;
  });
  const closed = new Promise<number | null>((done) => child.on("close", done));
  const ended = closed.then((code) => {
    if (code !== 0) throw new Error(`exit ${code}: ${complaints}`);
  });
  // A process that is killed on purpose has nobody who waits for its end.
  ended.catch(() => undefined);

  async function kill(): Promise<void> {
    child.kill("SIGKILL");
    await closed;
  }

  onTestFinished(kill);
  return { lines: () => printed.split("\n").slice(0, -1), kill, ended };
}
