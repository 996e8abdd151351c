import { spawn } from "node:child_process";
import { existsSync, readFileSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { build } from "esbuild";
import { GIT_ENV } from "../../../../support/git-repository.ts";
import { tempDir } from "../../../../support/temp-dir.ts";

/** What a process of its own does with the snapshots: one call of the port. */
export interface SnapshotJob {
  readonly managedRoot: string;
  readonly trashDir: string;
  readonly method: "salvage" | "putBack" | "rewind" | "take";
  readonly args: readonly unknown[];
}

export interface SnapshotRun {
  /** Whether it did all of it; else it was killed. */
  readonly done: boolean;
  /** The boundaries that were crossed, the one of the kill included. */
  readonly crossed: readonly string[];
}

const SOURCE = `
  import { crashAt } from "../../../../../src/adapters/faults/crash-at.ts";
  import { memoryLocks } from "../../../../../src/adapters/memory/locks.ts";
  import { memoryProcessTable } from "../../../../../src/adapters/memory/process-table.ts";
  import { gitSnapshots } from "../../../../../src/adapters/worktree/salvage/git-snapshots.ts";
  const { method, args, ...roots } = JSON.parse(process.argv[2]);
  const env = process.env;
  const parts = { processes: memoryProcessTable(), locks: memoryLocks() };
  const snapshots = gitSnapshots({ ...roots, ...parts, env, boundary: crashAt(env) });
  await snapshots[method](...args);
`;

/** Bundles the program, as Node 20 runs no TypeScript; returns how to run it, killed at its n-th boundary. */
export async function snapshotProgram(): Promise<(job: SnapshotJob, at?: number) => Promise<SnapshotRun>> {
  const folder = tempDir("ao-snapshot-program");
  const outfile = join(folder, "program.mjs");
  symlinkSync(resolve("node_modules"), join(folder, "node_modules"));
  await build({
    stdin: { contents: SOURCE, resolveDir: import.meta.dirname, loader: "ts" },
    ...{ outfile, bundle: true, platform: "node", format: "esm", external: ["execa", "ignore"] },
    logLevel: "silent",
  });
  let runs = 0;
  return (job, at) => {
    runs += 1;
    const log = join(folder, `crossed-${runs}`);
    const fault = at === undefined ? {} : { AO_FAULT_AT: String(at) };
    const child = spawn(process.execPath, [outfile, JSON.stringify(job)], {
      env: { ...GIT_ENV, ...fault, AO_FAULT_LOG: log },
      stdio: ["ignore", "ignore", "pipe"],
    });
    let complaints = "";
    child.stderr.on("data", (chunk) => {
      complaints += chunk;
    });
    return new Promise((done, fail) => {
      child.on("close", (code, signal) => {
        const crossed = existsSync(log) ? readFileSync(log, "utf8").split("\n").filter(Boolean) : [];
        if (code === 0 || signal === "SIGKILL") done({ done: code === 0, crossed });
        else fail(new Error(`exit ${code}: ${complaints}`));
      });
    });
  };
}
