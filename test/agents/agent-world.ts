import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { onTestFinished } from "vitest";
import type * as z from "zod";
import { type Ao, aoSandbox, git, type RunOptions } from "../support/ao.ts";
import { listSchema, outputSchema, turnsSchema } from "../support/json-schemas.ts";
import { agentsFolder } from "./agent-programs.ts";
import { type ModelServer, modelServer } from "./model/model-server.ts";
import type { Step } from "./model/steps.ts";

/**
 * The real agents, run by the built `ao`, each test with a home, a data directory, a tmux server and a model server
 * of its own.
 *
 * How to add the suite of an agent:
 * 1. Its package and version stand in programs/package.json and its lock file.
 * 2. `<agent>.agents.ts` beside this file describes it as an `AgentSuite` and calls `agentScenarios(suite)`, which
 *    are the tests that every agent passes (scenarios.ts).
 * 3. Its own hazards follow there as further tests on `agentWorld(suite)`: script the model by a marker in the
 *    prompt (`world.model.script("marker", run("touch x"))`), and look at what it was asked (`world.model.about`).
 * 4. What it was seen to send or show goes to fixtures/<agent>-<version>/ for fast tests in test/unit.
 *
 * `npm run test:agents -- <agent>` runs one suite, after `npm run build`.
 */
export interface AgentSuite {
  /** Its name for `ao spawn --agent`. */
  readonly agent: string;
  /** What a person has in the home of this machine; returns the environment that goes with it. */
  readonly prepare: (place: {
    readonly home: string;
    readonly model: ModelServer;
  }) => Readonly<Record<string, string>>;
  /** Two of it that are the first in a home, at once, may hang: one alone makes what they need there. */
  readonly startsAlone?: true;
  /** A secret of that environment that no process list may show. */
  readonly secret: string;
  /** Settings in the home that no launch may change, relative to it. */
  readonly settings: readonly string[];
  /** Its own arguments with which its shell tool runs in the worktree without a question. */
  readonly freely: readonly string[];
  /** A step for which it asks for permission in its default mode, and what is made once it was given. */
  readonly asking: (file: string) => Step;
  /** What its permission prompt shows. */
  readonly askingScreen: RegExp;
  /** The keys that give permission. */
  readonly approve: readonly string[];
}

/** What the process list showed at any moment since a test began. */
export interface ProcessWatch {
  readonly seen: ReadonlySet<string>;
  stop(): void;
}

export interface AgentWorld {
  readonly ao: Ao;
  readonly model: ModelServer;
  readonly repository: string;
  spawn(prompt: string | null, ...argv: readonly string[]): Promise<string>;
  row(id: string): Promise<Row>;
  turns(id: string): Promise<z.output<typeof turnsSchema>["data"]>;
  /** Waits until the status is one of these. */
  until(id: string, ...statuses: readonly string[]): Promise<Row>;
  /** Waits until something holds, for at most two minutes; looks every 100 ms. */
  eventually<Value>(
    what: string,
    find: () => Promise<Value | undefined | false> | Value | undefined | false,
  ): Promise<Value>;
  screen(id: string): Promise<string>;
  /** Presses keys in the session's terminal, as a person would. */
  press(id: string, ...keys: readonly string[]): void;
  /** Porcelain status of its worktree. */
  gitStatus(id: string): Promise<string>;
}

type Row = z.output<typeof listSchema>["data"][number];

/** Of a busy machine with two processors. */
const LONGEST_MS = 120_000;
const POLL_MS = 100;

/** All command lines of this machine that could be read. */
function commandLines(): readonly string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        return [readFileSync(`/proc/${pid}/cmdline`, "latin1")];
      } catch {
        return [];
      }
    });
}

/** Ends what agents of a data directory left running, each by its pid, and waits until nothing of it is there. */
async function endAgents(dataDir: string): Promise<void> {
  const mine = () =>
    readdirSync("/proc").filter((name) => {
      if (!/^\d+$/.test(name)) return false;
      try {
        return readFileSync(`/proc/${name}/environ`, "latin1").includes(`AO_DATA_DIR=${dataDir}\0`);
      } catch {
        return false;
      }
    });
  for (let tries = 0, left = mine(); left.length > 0 && tries < 100; tries++, left = mine()) {
    for (const pid of left.map(Number)) endOne(pid);
    await sleep(20);
  }
}

function endOne(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It is gone.
  }
}

/** Looks at the process list every few milliseconds. */
export function watchProcesses(): ProcessWatch {
  const seen = new Set<string>();
  const look = () => {
    for (const line of commandLines()) seen.add(line);
  };
  const timer = setInterval(look, 10);
  return { seen, stop: () => clearInterval(timer) };
}

export async function agentWorld(suite: AgentSuite): Promise<AgentWorld> {
  const ao = aoSandbox();
  onTestFinished(() => endAgents(ao.dataDir));
  const model = await modelServer();
  const own = suite.prepare({ home: ao.home, model });
  const env = { ...own, PATH: `${agentsFolder()}:${process.env["PATH"]}` };
  const repository = ao.repository();
  const withEnv = (options: RunOptions = {}): RunOptions => ({
    cwd: repository,
    ...options,
    env: { ...env, ...options.env },
  });
  const within: Ao = {
    ...ao,
    run: (argv, options) => ao.run(argv, withEnv(options)),
    json: (schema, argv, options) => ao.json(schema, argv, withEnv(options)),
    error: (argv, options) => ao.error(argv, withEnv(options)),
    spawn: (cwd, argv, options) => ao.spawn(cwd, argv, withEnv({ ...options, cwd })),
  };

  const eventually: AgentWorld["eventually"] = async (what, find) => {
    const deadlineMs = Date.now() + LONGEST_MS;
    for (;;) {
      const found = await find();
      if (found !== undefined && found !== false) return found;
      if (Date.now() > deadlineMs) throw new Error(`never: ${what}`);
      await sleep(POLL_MS);
    }
  };
  const row: AgentWorld["row"] = async (id) => {
    const { data } = await within.json(listSchema, ["list", "-a"]);
    const found = data.find((one) => one.id === id);
    if (found === undefined) throw new Error(`${id} is not in the list`);
    return found;
  };
  const screen = async (id: string) => (await within.json(outputSchema, ["output", id])).lines.join("\n");
  return {
    ...{ ao: within, model, repository, eventually, row, screen },
    async spawn(prompt, ...argv) {
      const prompted = prompt === null ? [] : ["--prompt-file", "-"];
      const input = prompt === null ? {} : { input: prompt };
      const cut = argv.indexOf("--");
      const before = cut === -1 ? argv : argv.slice(0, cut);
      const after = cut === -1 ? [] : argv.slice(cut);
      return within.spawn(repository, ["--agent", suite.agent, ...prompted, ...before, ...after], input);
    },
    turns: async (id) => (await within.json(turnsSchema, ["turns", id])).data,
    async until(id, ...statuses) {
      let seen = "";
      const find = async () => {
        const now = await row(id);
        seen = now.status;
        return statuses.includes(now.status) && now;
      };
      return eventually(`${id} is ${statuses.join(" or ")}`, find).catch(async (error: unknown) => {
        throw new Error(`${String(error)}; it is ${seen}:\n${await screen(id).catch(() => "no screen")}`);
      });
    },
    press: (id, ...keys) => void ao.tmux("send-keys", "-t", `=${id}:`, ...keys),
    gitStatus: async (id) =>
      git((await row(id)).workspacePath, "status", "--porcelain", "--untracked-files=all"),
  };
}
