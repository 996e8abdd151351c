import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type * as z from "zod";
import { errorSchema, listSchema, projectListSchema } from "./json-schemas.ts";
import type { Start } from "./read-only.ts";
import { tempDir } from "./temp-dir.ts";

const BUILT = join(import.meta.dirname, "..", "..");

/** The built command line. */
export const AO = join(BUILT, "dist", "ao.js");
/** The same, but that `AO_FAULT_AT` kills it at a boundary. */
export const FAULTY_AO = join(BUILT, "dist-faults", "ao.js");

export interface Result {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly cwd?: string;
  /** Laid over the sandbox's environment; `undefined` takes a variable away. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly input?: string | Buffer;
  /** Starts the program by another one. */
  readonly start?: Start;
}

/** The built `ao` with home, data directory and tmux server of its own, gone when the test ends. */
export interface Ao {
  readonly root: string;
  readonly home: string;
  readonly dataDir: string;
  readonly env: Readonly<Record<string, string>>;
  /** Makes a repository with one commit on `main` and returns its path. */
  repository(name?: string): string;
  run(argv: readonly string[], options?: RunOptions): Promise<Result>;
  /** Runs with `--json`; fails the test unless it is exit 0 with a quiet stderr and the value fits the schema. */
  json<Value>(schema: z.ZodType<Value>, argv: readonly string[], options?: RunOptions): Promise<Value>;
  /** Runs with `--json`; fails the test unless it is an error of one line with an empty stdout. */
  error(
    argv: readonly string[],
    options?: RunOptions,
  ): Promise<z.output<typeof errorSchema>["error"] & { readonly exitCode: number | null }>;
  /** Spawns in a repository and returns the id. */
  spawn(cwd: string, argv?: readonly string[], options?: RunOptions): Promise<string>;
  /** Waits until a session's status is one of these. */
  until(id: string, ...statuses: readonly string[]): Promise<void>;
  /** What tmux prints on the sandbox's server; empty when there is none. */
  tmux(...args: readonly string[]): string;
  /** All that a command could leave behind in a repository and in the data directory. */
  traces(repository: string): Promise<Traces>;
}

export interface Traces {
  readonly worktrees: string;
  /** All refs but checkpoints of the sessions in `rows`. */
  readonly branches: string;
  /** tmux sessions. */
  readonly sessions: string;
  readonly rows: z.output<typeof listSchema>["data"];
  readonly projects: z.output<typeof projectListSchema>["data"];
  /** In the data directory, beside the store and its empty folders. */
  readonly files: readonly string[];
  /** In the repository, ignored files included. */
  readonly repository: string;
}

/** Runs git, its output trimmed; a test for which it fails has nothing to stand on. */
export function git(cwd: string, ...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync("git", args, { cwd, encoding: "utf8", env: gitEnv() });
  if (status !== 0) throw new Error(`git ${args.join(" ")}: ${stderr}`);
  return stdout.trim();
}

function gitEnv(): NodeJS.ProcessEnv {
  const identity = { GIT_AUTHOR_NAME: "T", GIT_AUTHOR_EMAIL: "t@example.org" };
  const committer = { GIT_COMMITTER_NAME: "T", GIT_COMMITTER_EMAIL: "t@example.org" };
  return { PATH: process.env["PATH"], GIT_CONFIG_GLOBAL: "/dev/null", ...identity, ...committer };
}

function makeRepository(path: string): string {
  mkdirSync(path, { recursive: true });
  git(path, "init", "-q", "-b", "main");
  writeFileSync(join(path, "README.md"), "hello\n");
  writeFileSync(join(path, ".gitignore"), ".env\nnode_modules/\n");
  git(path, "add", ".");
  git(path, "commit", "-q", "-m", "Begin");
  return path;
}

/** `--json` before what is for the agent. */
function withJson(argv: readonly string[]): readonly string[] {
  const cut = argv.indexOf("--");
  return cut === -1 ? [...argv, "--json"] : [...argv.slice(0, cut), "--json", ...argv.slice(cut)];
}

function runAo(
  argv: readonly string[],
  options: RunOptions & { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
  running: Set<ChildProcess>,
) {
  return new Promise<Result>((resolve, reject) => {
    const { cwd, env, start = (program) => program } = options;
    const [command = "", ...args] = start([process.execPath, ...argv]);
    const child = spawn(command, args, { cwd, env, stdio: "pipe" });
    running.add(child);
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => out.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => err.push(chunk));
    child.on("error", reject);
    child.on("close", (exitCode) => {
      running.delete(child);
      resolve({ exitCode, stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(err).toString() });
    });
    child.stdin.on("error", () => {});
    child.stdin.end(options.input ?? "");
  });
}

function sockets(runtimeDir: string): readonly string[] {
  const folders = existsSync(runtimeDir) ? readdirSync(runtimeDir) : [];
  return folders.map((name) => join(runtimeDir, name, "tmux")).filter(existsSync);
}

function tmuxOn(socket: string, ...args: readonly string[]): string {
  const { stdout } = spawnSync("tmux", ["-u", "-S", socket, ...args], { encoding: "utf8" });
  return stdout.trim();
}

/** Ends a sandbox's own server and what runs in its panes, each by its pid. */
function endServers(runtimeDir: string): void {
  for (const socket of sockets(runtimeDir)) {
    const panes = tmuxOn(socket, "list-panes", "-a", "-F", "#{pane_pid}");
    tmuxOn(socket, "kill-server");
    for (const pid of panes.split("\n").map(Number)) {
      if (pid > 1) spawnSync("kill", ["-KILL", String(pid)], { stdio: "ignore" });
    }
  }
}

/** All refs but the checkpoints of these sessions, which stay for as long as one is known. */
function refsOf(repository: string, sessionIds: readonly string[]): string {
  const isKnown = (line: string) => sessionIds.some((id) => line.includes(`\trefs/ao/checkpoints/${id}/`));
  const refs = git(repository, "for-each-ref").split("\n");
  return refs.filter((line) => !isKnown(line)).join("\n");
}

/** What a data directory has from its first commands on: the store, empty folders, locks, tmux's last server. */
const ALWAYS =
  /^(ao\.db(-wal|-shm)?|worktrees|launch|inbox(\/(new|tmp))?|trash|embedded|runtime(\/tmux-server\.json)?|locks(\/[0-9a-f]{32})?)$/;

/** All that is in a data directory beyond that. */
function filesBelow(path: string): readonly string[] {
  if (!existsSync(path)) return [];
  const names = readdirSync(path, { recursive: true, encoding: "utf8" });
  return names.filter((name) => !ALWAYS.test(name)).sort();
}

/** A fresh sandbox for the program at a path. */
export function aoSandbox(program = AO): Ao {
  const root = tempDir("ao-cli");
  const home = join(root, "home");
  const dataDir = join(root, "data");
  const runtimeDir = join(root, "run");
  for (const path of [home, runtimeDir]) mkdirSync(path, { mode: 0o700 });
  onTestFinished(() => [runtimeDir, home].forEach(endServers));
  // A test that ran out of time leaves its commands at work, and they would go on making things.
  const running = new Set<ChildProcess>();
  onTestFinished(() => running.forEach((child) => void child.kill("SIGKILL")));
  const env = {
    PATH: process.env["PATH"] ?? "/usr/bin:/bin",
    HOME: home,
    AO_DATA_DIR: dataDir,
    XDG_RUNTIME_DIR: runtimeDir,
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_AUTHOR_NAME: "T",
    GIT_AUTHOR_EMAIL: "t@example.org",
    GIT_COMMITTER_NAME: "T",
    GIT_COMMITTER_EMAIL: "t@example.org",
  };

  const run: Ao["run"] = (argv, options = {}) =>
    runAo(
      [program, ...argv],
      { ...options, cwd: options.cwd ?? root, env: { ...env, ...options.env } },
      running,
    );
  const tmux = (...args: readonly string[]) =>
    sockets(runtimeDir)
      .map((socket) => tmuxOn(socket, ...args))
      .join("");

  const json: Ao["json"] = async (schema, argv, options) => {
    const result = await run(withJson(argv), options);
    if (result.exitCode !== 0 || result.stderr !== "") {
      throw new Error(`ao ${argv.join(" ")}: exit ${result.exitCode}: ${result.stderr}${result.stdout}`);
    }
    return schema.parse(JSON.parse(result.stdout));
  };
  const list = () => json(listSchema, ["list", "-a"]);

  return {
    root,
    home,
    dataDir,
    env,
    repository: (name = "shop") => makeRepository(join(root, name)),
    run,
    json,
    tmux,
    async error(argv, options) {
      const { exitCode, stdout, stderr } = await run(withJson(argv), options);
      if (stdout !== "" || !/^[^\n]+\n$/.test(stderr)) {
        throw new Error(`ao ${argv.join(" ")}: exit ${exitCode}, no one-line error: ${stderr}${stdout}`);
      }
      return { ...errorSchema.parse(JSON.parse(stderr)).error, exitCode };
    },
    async spawn(cwd, argv = [], options = {}) {
      const { exitCode, stdout, stderr } = await run(["spawn", ...argv], { cwd, ...options });
      const id = /\nSESSION=(\S+)\n$/.exec(stdout)?.[1];
      if (exitCode !== 0 || id === undefined) throw new Error(`ao spawn: exit ${exitCode}: ${stderr}`);
      return id;
    },
    async until(id, ...statuses) {
      const deadlineMs = Date.now() + 15_000;
      for (let seen = ""; !statuses.includes(seen); ) {
        if (Date.now() > deadlineMs) throw new Error(`${id} is ${seen}, not ${statuses.join(" or ")}`);
        seen = (await list()).data.find((session) => session.id === id)?.status ?? "absent";
      }
    },
    async traces(repository) {
      const hasStore = existsSync(join(dataDir, "ao.db"));
      const rows = hasStore ? (await list()).data : [];
      const known = rows.map(({ id }) => id);
      return {
        worktrees: git(repository, "worktree", "list", "--porcelain"),
        branches: refsOf(repository, known),
        sessions: tmux("list-sessions", "-F", "#{session_name}"),
        rows,
        projects: hasStore ? (await json(projectListSchema, ["project", "list"])).data : [],
        files: filesBelow(dataDir),
        repository: git(repository, "status", "--porcelain", "--ignored"),
      };
    },
  };
}
