import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { embeddedAgent } from "./adapters/agents/embedded/embedded-agent.ts";
import { shellAgent } from "./adapters/agents/shell/shell-agent.ts";
import { findConfigFile } from "./adapters/config/find-config-file.ts";
import {
  type DataDirectory,
  dataDirectory,
  homeDirectory,
} from "./adapters/data-directory/data-directory.ts";
import { fileInbox } from "./adapters/inbox/file-inbox.ts";
import { memorySessionStore } from "./adapters/memory/session-store.ts";
import { systemClock } from "./adapters/node/system-clock.ts";
import { systemFiles } from "./adapters/node/system-files.ts";
import { systemIds } from "./adapters/node/system-ids.ts";
import { systemPrograms } from "./adapters/node/system-programs.ts";
import { systemProcessTable } from "./adapters/processes/system-process-table.ts";
import { chooseSocketPath } from "./adapters/tmux/socket-path.ts";
import { dataLayout } from "./domain/data-layout.ts";
import type { SessionDeps } from "./lifecycle/deps.ts";
import type { Agent } from "./ports/agent.ts";
import type { Config } from "./ports/config.ts";
import type { Repositories } from "./ports/repositories.ts";
import type { SessionStore } from "./ports/session-store.ts";
import type { Workspace } from "./ports/workspace.ts";

/**
 * `create` makes the data directory and the store when they are missing. `existing` makes nothing: a
 * missing store is an empty one. `tools` opens no store at all.
 */
export type Access = "create" | "existing" | "tools";

export interface OpenOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Absolute. */
  readonly cwd: string;
  /** A configuration file to use instead of the one that would be found; relative to `cwd`. */
  readonly configPath?: string;
  readonly access: Access;
}

/** `ao`, opened on one data directory: what the session commands work with. */
export interface Ao {
  readonly deps: SessionDeps;
  readonly cwd: string;
  readonly dataDirectory: DataDirectory;
  /** The configuration file that is used; `null` when there is none. @throws AoError config_invalid */
  configPath(): string | null;
  /** The configuration, read once. @throws AoError config_invalid */
  config(): Promise<Config>;
  close(): void;
}

export type OpenAo = (options: OpenOptions) => Promise<Ao>;

type Environment = OpenOptions["env"];

/** The embedded agent's program lies beside the bundle; a run from the sources uses the built one. */
function embeddedProgram(): string {
  const here = dirname(fileURLToPath(import.meta.url));
  const folder = basename(here) === "src" ? join(here, "..", "dist") : here;
  return join(folder, "embedded-agent.js");
}

function allAgents(): ReadonlyMap<string, Agent> {
  const agents = [
    embeddedAgent({ programPath: embeddedProgram(), nodePath: process.execPath }),
    shellAgent(),
  ];
  return new Map(agents.map((agent) => [agent.name, agent]));
}

async function openStore(directory: DataDirectory, access: Access): Promise<SessionStore> {
  if (access === "tools") return memorySessionStore();
  const { database } = dataLayout(access === "create" ? directory.prepare() : directory.resolved());
  const isThere = existsSync(database) || existsSync(`${database}-wal`);
  if (access === "existing" && !isThere) return memorySessionStore();
  const { sqliteSessionStore } = await import("./adapters/sqlite/session-store.ts");
  return sqliteSessionStore({ path: database });
}

/** Git is loaded by the first call that needs it: a list needs none. */
function lazyGit(dataDir: string, env: Environment): { workspace: Workspace; repositories: Repositories } {
  const worktrees = async () => {
    const { gitWorktrees } = await import("./adapters/worktree/git-worktrees.ts");
    return gitWorktrees({ dataDir, env });
  };
  const repositories = async () => {
    const { gitRepositories } = await import("./adapters/worktree/git-repositories.ts");
    return gitRepositories({ env });
  };
  return {
    workspace: {
      check: async () => (await worktrees()).check(),
      create: async (spec) => (await worktrees()).create(spec),
      restore: async (spec) => (await worktrees()).restore(spec),
      inspect: async (ref) => (await worktrees()).inspect(ref),
      destroy: async (ref) => (await worktrees()).destroy(ref),
      undoCreate: async (ref, created) => (await worktrees()).undoCreate(ref, created),
    },
    repositories: { find: async (directory) => (await repositories()).find(directory) },
  };
}

/** Chosen once for a data directory and remembered, whatever the caller's environment says later. */
function socketPath(store: SessionStore, digest: string, env: Environment): string {
  const xdg = env["XDG_RUNTIME_DIR"];
  const chosen = chooseSocketPath({
    xdgRuntimeDir: xdg && existsSync(xdg) ? xdg : undefined,
    tmpDir: env["TMPDIR"] ?? tmpdir(),
    uid: process.getuid?.() ?? 0,
    dataDirDigest: digest,
  });
  return store.rememberOnce("tmux.socket", chosen);
}

async function sessionDeps(options: OpenOptions, directory: DataDirectory): Promise<SessionDeps> {
  const { env, access } = options;
  const tmux = import("./adapters/tmux/tmux-runtime.ts");
  const store = await openStore(directory, access);
  const dataDir = access === "tools" ? directory.path : directory.resolved();
  const ids = systemIds();
  const processes = systemProcessTable();
  const inbox = fileInbox({ dir: dataLayout(dataDir).inbox });
  const { tmuxRuntime } = await tmux;
  return {
    ...lazyGit(dataDir, env),
    store,
    runtime: tmuxRuntime({ socketPath: socketPath(store, ids.digest(dataDir), env), env, processes }),
    messenger: lazyMessenger(),
    agents: allAgents(),
    inbox,
    processes,
    programs: systemPrograms(),
    files: systemFiles(),
    clock: systemClock(),
    ids,
    dataDir,
    callerEnv: env,
  };
}

/**
 * Opens `ao`: puts the adapters together for one data directory. Close it when done.
 *
 * @throws AoError data_dir_unusable, store_corrupt, store_newer or store_busy
 */
export async function openAo(options: OpenOptions): Promise<Ao> {
  const { env, cwd, configPath } = options;
  const directory = dataDirectory(env, cwd);
  const deps = await sessionDeps(options, directory);
  const lookup = { explicitPath: configPath, env, cwd, home: homeDirectory(env) };
  const repositoryOf = async (folder: string) => (await deps.repositories.find(folder))?.path;
  let config: Promise<Config> | undefined;
  return {
    deps,
    cwd,
    dataDirectory: directory,
    configPath: () => findConfigFile(lookup) ?? null,
    config: () => {
      config ??= import("./adapters/config/load-config.ts").then(({ loadConfig }) =>
        loadConfig({ ...lookup, repositoryOf }),
      );
      return config;
    },
    close: () => deps.store.close(),
  };
}

/** The JSON Schema of a configuration file. */
export async function loadConfigSchema(): Promise<unknown> {
  const { configJsonSchema } = await import("./adapters/config/schema.ts");
  return configJsonSchema();
}
