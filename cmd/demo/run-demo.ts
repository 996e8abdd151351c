import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { AoError } from "../../src/domain/errors.ts";
import { shellQuoted } from "../../src/domain/shell-quoted.ts";
import type { Paint } from "../color.ts";
import type { Io } from "../io.ts";
import { DEMO_ISSUES, type DemoIssue } from "./demo-issues.ts";
import { type DemoResult, type DemoShell, demoShell } from "./demo-shell.ts";
import { throwawayRepository } from "./throwaway-repository.ts";
import { type Watched, watchStatuses } from "./watch-statuses.ts";

const TURN_TIMEOUT_MS = 20_000;

export interface DemoOptions {
  /** Leaves the repository and two live sessions to play with. */
  readonly keep: boolean;
  readonly io: Io;
  readonly paint: Paint;
  readonly isInterrupted: () => boolean;
}

interface Stage extends DemoOptions {
  readonly root: string;
  readonly repository: string;
  readonly env: NodeJS.ProcessEnv;
  readonly shell: DemoShell;
}

/** The caller's environment without what would lead the demo to the caller's own sessions and settings. */
function demoEnvironment(root: string, { env }: Io): NodeJS.ProcessEnv {
  const own = Object.entries(env).filter(([name]) => !/^(AO_|TMUX|GIT_)/.test(name));
  return {
    ...Object.fromEntries(own),
    AO_DATA_DIR: join(root, "data"),
    XDG_RUNTIME_DIR: root,
    XDG_CONFIG_HOME: join(root, "config"),
  };
}

async function openStage(options: DemoOptions): Promise<Stage> {
  const root = await realpath(await mkdtemp(join(tmpdir(), "ao-demo-")));
  const repository = join(root, "shop");
  const env = demoEnvironment(root, options.io);
  const shell = demoShell({ cwd: repository, env, io: options.io, paint: options.paint });
  return { ...options, root, repository, env, shell };
}

const hasStatus = (sessions: readonly Watched[], id: string, ...statuses: readonly string[]) =>
  sessions.some((session) => session.id === id && statuses.includes(session.status));

function until(stage: Stage, isDone: (sessions: readonly Watched[]) => boolean): Promise<void> {
  return watchStatuses({ ...stage, isDone, timeoutMs: TURN_TIMEOUT_MS });
}

/** Runs a command that the demo knows the answer of; another answer ends the demo. */
async function expectExit(
  { shell }: Stage,
  exitCode: number,
  ...[args, input]: Parameters<DemoShell["show"]>
): Promise<DemoResult> {
  const result = await shell.show(args, input);
  if (result.exitCode === exitCode) return result;
  throw new AoError("internal", `the demo's ao ${args[0]} ended with ${result.exitCode}, not ${exitCode}`);
}

async function spawnAll(stage: Stage): Promise<ReadonlyMap<DemoIssue, string>> {
  const spawned = await Promise.all(
    DEMO_ISSUES.map(async (issue) => {
      const args = [
        "spawn",
        issue.issue,
        "--title",
        issue.title,
        "--agent",
        "embedded",
        "--prompt-file",
        "-",
      ];
      const { stdout } = await expectExit(stage, 0, args, issue.prompt);
      return [issue, /^SESSION=(.+)$/m.exec(stdout)?.[1] ?? ""] as const;
    }),
  );
  return new Map(spawned);
}

async function countOf(command: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const { stdout } = await execa(command, args, { env, extendEnv: false, reject: false, timeout: 10_000 });
  return stdout.split("\n").filter((text) => text !== "").length;
}

async function closingTable(stage: Stage): Promise<void> {
  const { stdout } = await stage.shell.run(["list", "--json", "--include-terminated"]);
  const { data } = JSON.parse(stdout) as {
    readonly data: readonly (Watched & {
      readonly isTerminated: boolean;
      readonly runtime: { readonly socketPath: string } | null;
    })[];
  };
  const socket = data.find((session) => session.runtime !== null)?.runtime?.socketPath ?? "";
  const git = (...args: readonly string[]) => countOf("git", ["-C", stage.repository, ...args], stage.env);
  const rows = [
    ["sessions", `${data.length}`, `${data.filter((session) => !session.isTerminated).length} live`],
    ["branches", `${await git("branch", "--list", "feat/*")}`, "kept, with every commit"],
    ["worktrees", `${(await git("worktree", "list")) - 1}`, "of live sessions, or with work in them"],
    [
      "tmux sessions",
      `${await countOf("tmux", ["-S", socket, "list-sessions", "-F", "#{session_id}"], stage.env)}`,
      "one for each live session",
    ],
  ] as const;
  for (const [what, count, note] of rows) {
    stage.io.stdout.write(`  ${what.padEnd(14)} ${count.padStart(3)}  ${note}\n`);
  }
}

async function play(stage: Stage): Promise<void> {
  const { shell } = stage;
  await throwawayRepository(stage.repository, stage.env);
  const works = (...args: string[]) => expectExit(stage, 0, args);
  const refuses = (...args: string[]) => expectExit(stage, 4, args);
  shell.say(`A throwaway repository with three commits: ${stage.repository}`);
  shell.say("Three sessions at once, each with its own branch, worktree and tmux session:");
  const ids = await spawnAll(stage);
  const [first = "", second = "", third = ""] = ids.values();
  await until(stage, (all) => [...ids].every(([issue, id]) => hasStatus(all, id, issue.restsAs)));
  await works("list");

  shell.say("One of them asks a question. A message answers it:");
  await works("send", third, "Use euros, please");
  await until(stage, (all) => hasStatus(all, third, "idle"));

  shell.say("Kill a session whose work is committed: its worktree is freed, its branch stays.");
  await works("kill", second);
  shell.say("Restore it: the same worktree, branch and conversation.");
  await works("restore", second);
  await until(stage, (all) => hasStatus(all, second, "idle"));

  shell.say("Kill a session with a draft that is not committed: it ends, and nothing is thrown away.");
  await refuses("kill", first);
  await works("kill", second);
  shell.say("Clean up: what holds work is skipped, with the reason.");
  await works("cleanup");
  shell.say("Bring the first one back and let it finish; then nothing holds it any more.");
  await works("restore", first);
  await until(stage, (all) => hasStatus(all, first, "idle"));
  await works("send", first, "commit Keep the draft");
  await until(stage, (all) => hasStatus(all, first, "idle"));
  if (!stage.keep) await works("kill", first, third);
  await works("list", "--include-terminated");

  shell.say("What exists now:");
  await closingTable(stage);
}

async function liveSessions(stage: Stage): Promise<readonly Watched[]> {
  const { stdout } = await stage.shell.run(["list", "--json"]);
  return (JSON.parse(stdout || '{"data":[]}') as { readonly data: readonly Watched[] }).data;
}

async function strike(stage: Stage): Promise<void> {
  const live = await liveSessions(stage);
  const ended = await Promise.all(live.map(({ id }) => stage.shell.run(["kill", "--keep-worktree", id])));
  if (ended.some(({ exitCode }) => exitCode !== 0)) {
    throw new AoError("teardown_incomplete", `the demo could not end its sessions in ${stage.root}`);
  }
  await rm(stage.root, { recursive: true, force: true });
}

/** Plays the main job on a throwaway repository with the embedded agent, in well under 30 s. */
export async function runDemo(options: DemoOptions): Promise<void> {
  const stage = await openStage(options);
  try {
    await play(stage);
  } catch (error) {
    await strike(stage);
    throw error;
  }
  if (!options.keep) {
    await strike(stage);
    stage.shell.say(
      "The repository and its sessions were removed. `ao demo --keep` leaves them to play with.",
    );
    return;
  }
  await tellHowToPlay(stage);
}

async function tellHowToPlay(stage: Stage): Promise<void> {
  const live = (await liveSessions(stage)).map(({ id }) => id);
  stage.shell.say("Left to play with:");
  const lines = [
    `  cd ${shellQuoted(stage.repository)}`,
    `  export AO_DATA_DIR=${shellQuoted(join(stage.root, "data"))}`,
    "  ao list",
    "When done:",
    `  ao kill --keep-worktree ${live.join(" ")}`,
    `  cd && unset AO_DATA_DIR && rm -rf ${shellQuoted(stage.root)}`,
  ];
  stage.io.stdout.write(`${lines.join("\n")}\n`);
}
