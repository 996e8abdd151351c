import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type RunOptions, run } from "./measure.ts";

const BUILT = join(import.meta.dirname, "..", "..");
/** The built command line, as users run it. */
const AO = process.env["AO_BENCH_PROGRAM"] ?? join(BUILT, "dist", "ao.js");

/** A folder of its own with a data directory and a tmux server of its own. */
export interface Place {
  readonly root: string;
  readonly dataDir: string;
  readonly env: Readonly<Record<string, string>>;
  /** The built command line. */
  readonly program: string;
  /** Runs the built `ao`. */
  ao(argv: readonly string[], options?: RunOptions): { readonly tookMs: number; readonly stdout: string };
  /** Makes a repository with so many small files in one commit and returns its path. */
  repository(fileCount: number): string;
  /** Ends the servers of this place; its files go with the temporary directory of the row. */
  remove(): void;
}

function git(cwd: string, ...args: readonly string[]): void {
  run(["git", "-c", "user.name=B", "-c", "user.email=b@example.org", ...args], { cwd });
}

function makeRepository(path: string, fileCount: number): string {
  for (let index = 0; index < fileCount; index++) {
    const folder = join(path, "src", `d${Math.floor(index / 100)}`);
    if (index % 100 === 0) mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `f${index}.txt`), `line of file ${index}\n`.repeat(8));
  }
  mkdirSync(path, { recursive: true });
  git(path, "init", "-q", "-b", "main");
  git(path, "add", ".");
  git(path, "commit", "-q", "--allow-empty", "-m", "Begin");
  return path;
}

/** The caller's, but for what leads `ao`, git or tmux elsewhere: what costs Node time costs the floor the same. */
function inherited(): Record<string, string> {
  const entries = Object.entries(process.env).filter(([name]) => !/^(AO_|GIT_|TMUX|XDG_)/.test(name));
  return Object.fromEntries(entries.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}

/** Every tmux server below a folder, by its socket, ended with what runs in its panes. */
export function endServers(root: string): void {
  const { stdout } = spawnSync("find", [root, "-type", "s"], { encoding: "utf8" });
  for (const socket of stdout.split("\n").filter(Boolean)) spawnSync("tmux", ["-S", socket, "kill-server"]);
}

/** A fresh place below the temporary directory. Remove it when done. */
export function aPlace(): Place {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "ao-bench-")));
  const [dataDir, runtimeDir, home] = ["data", "run", "home"].map((name) => join(root, name));
  if (!dataDir || !runtimeDir || !home) throw new Error("unreachable");
  for (const folder of [runtimeDir, home]) mkdirSync(folder, { mode: 0o700 });
  const env = {
    ...inherited(),
    ...{ HOME: home, LANG: "C.UTF-8", TMPDIR: root, AO_DATA_DIR: dataDir, XDG_RUNTIME_DIR: runtimeDir },
  };
  let repositories = 0;
  return {
    ...{ root, dataDir, env, program: AO },
    ao: (argv, options = {}) => run([process.execPath, AO, ...argv], { cwd: home, env, ...options }),
    repository(fileCount) {
      repositories += 1;
      return makeRepository(join(root, `repo${repositories}`), fileCount);
    },
    remove() {
      endServers(root);
    },
  };
}

/** A start of Node that does nothing: what no command can be below. */
export function nodeStart(): number {
  return run([process.execPath, "-e", "0"]).tookMs;
}
