import { type ChildProcess, spawn } from "node:child_process";
import { symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { build } from "esbuild";
import { onTestFinished } from "vitest";
import type { WorkspacePlan, WorkspaceSpec } from "../../../../src/ports/workspace.ts";
import { tempDir } from "../../../support/temp-dir.ts";

/** What a process of its own does with the adapter. */
export interface WorktreeJob {
  readonly method: "create" | "destroy" | "discard";
  readonly spec: WorkspaceSpec;
  readonly plan: WorkspacePlan;
  readonly managedRoot: string;
  readonly trashDir: string;
  readonly locksDir: string;
  readonly gitPath?: string;
}

/** That process. */
export interface WorktreeProcess {
  /** Resolves when the work begins. */
  readonly begun: Promise<void>;
  /** Ends it as a crash would, its children left to themselves. Resolves when it is gone. */
  kill(): Promise<void>;
  /** Resolves when it ended: true when it did its work, false when it was killed before. */
  readonly ended: Promise<boolean>;
}

const SOURCE = `
  import { writeSync } from "node:fs";
  import { gitWorktrees } from "../../../../src/adapters/worktree/git-worktrees.ts";
  import { fileLocks } from "../../../../src/adapters/locks/file-locks.ts";
  import { systemProcessTable } from "../../../../src/adapters/processes/system-process-table.ts";
  const job = JSON.parse(process.argv[2]);
  const processes = systemProcessTable();
  const self = { process: await processes.identify(process.pid), command: "ao test" };
  const locks = fileLocks({ dir: job.locksDir, self, processes });
  const workspace = gitWorktrees({ ...job, env: process.env, processes, locks });
  writeSync(1, "begun\\n");
  await workspace[job.method](job.spec, job.method === "destroy" ? undefined : job.plan);
  writeSync(1, "done\\n");
`;

/** Bundles the program, as Node 20 runs no TypeScript; returns how to start it. */
export async function worktreeProgram(
  env: Readonly<Record<string, string>>,
): Promise<(job: WorktreeJob) => WorktreeProcess> {
  const folder = tempDir("ao-worktree-program");
  const outfile = join(folder, "program.mjs");
  symlinkSync(resolve("node_modules"), join(folder, "node_modules"));
  await build({
    stdin: { contents: SOURCE, resolveDir: import.meta.dirname, loader: "ts" },
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    external: ["better-sqlite3", "execa"],
    logLevel: "silent",
  });
  return (job) => run(spawn(process.execPath, [outfile, JSON.stringify(job)], { env: { ...env } }));
}

function run(child: ChildProcess): WorktreeProcess {
  let printed = "";
  let complaints = "";
  const begun = new Promise<void>((done) => {
    child.stdout?.on("data", (chunk) => {
      printed += chunk;
      if (printed.includes("begun")) done();
    });
  });
  child.stderr?.on("data", (chunk) => {
    complaints += chunk;
  });
  const ended = new Promise<boolean>((done, fail) => {
    child.on("close", (code, signal) => {
      if (code === 0 || signal === "SIGKILL") done(printed.includes("done"));
      else fail(new Error(`exit ${code}: ${complaints}`));
    });
  });
  // One that is killed on purpose has nobody who waits for its end.
  ended.catch(() => undefined);
  const kill = async () => {
    child.kill("SIGKILL");
    await ended.catch(() => undefined);
  };
  onTestFinished(kill);
  return { begun, kill, ended };
}
