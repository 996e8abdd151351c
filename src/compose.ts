import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { claudeCodeAgent } from "./adapters/agents/claude-code/claude-code-agent.ts";
import { codexAgent } from "./adapters/agents/codex/codex-agent.ts";
import { keepDeclarations, readDeclarations } from "./adapters/agents/declared/declaration-files.ts";
import { declaredAgent } from "./adapters/agents/declared/declared-agent.ts";
import { KNOWN_AGENTS } from "./adapters/agents/declared/known-agents.ts";
import { embeddedAgent } from "./adapters/agents/embedded/embedded-agent.ts";
import { opencodeAgent } from "./adapters/agents/opencode/opencode-agent.ts";
import { shellAgent } from "./adapters/agents/shell/shell-agent.ts";
import { findConfigFile } from "./adapters/config/find-config-file.ts";
import {
  type DataDirectory,
  dataDirectory,
  homeDirectory,
} from "./adapters/data-directory/data-directory.ts";
import { rememberedSocket } from "./adapters/data-directory/remembered-socket.ts";
import { faultSeams } from "./adapters/faults/fault-seams.ts";
import { fileInbox } from "./adapters/inbox/file-inbox.ts";
import { systemClock } from "./adapters/node/system-clock.ts";
import { systemFiles } from "./adapters/node/system-files.ts";
import { systemGoalChecks } from "./adapters/node/system-goal-checks.ts";
import { systemIds } from "./adapters/node/system-ids.ts";
import { systemPrograms } from "./adapters/node/system-programs.ts";
import { systemProcessTable } from "./adapters/processes/system-process-table.ts";
import { chooseSocketPath } from "./adapters/tmux/socket-path.ts";
import { sha256 } from "./adapters/transcript-files/sha256.ts";
import { systemTranscriptFiles } from "./adapters/transcript-files/system-transcript-files.ts";
import { type Lookup, lazyGit, lazyLocks, lazyRules, lazySpares } from "./compose/lazy.ts";
import { type Access, type OpenedStore, openStore } from "./compose/open-store.ts";
import { dataLayout } from "./domain/data-layout.ts";
import { AoError } from "./domain/errors.ts";
import type { ProcessIdentity } from "./domain/session.ts";
import type { SessionDeps } from "./lifecycle/deps.ts";
import { transcriptStore } from "./lifecycle/transcript/transcript-store.ts";
import type { Agent } from "./ports/agent.ts";
import type { Config } from "./ports/config.ts";
import type { IdSource } from "./ports/ids.ts";
import type { Inbox } from "./ports/inbox.ts";
import type { ProcessTable } from "./ports/process-table.ts";
import type { Store } from "./ports/store.ts";

export type { Access } from "./compose/open-store.ts";

export interface OpenOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Absolute. */
  readonly cwd: string;
  /** A configuration file to use instead of the one that would be found; relative to `cwd`. */
  readonly configPath?: string;
  readonly access: Access;
  /** For those who tell of what is there without a store: one that is gone is an empty one to them. No when absent. */
  readonly mayLackStore?: boolean;
  /** What this process carries out, as a person would type it; for those who have to wait for it. */
  readonly command?: string;
}

/** `ao`, opened on one data directory: what the session commands work with. */
export interface Ao {
  readonly deps: SessionDeps;
  readonly cwd: string;
  readonly dataDirectory: DataDirectory;
  /** There is no store yet: what is written here is forgotten. Never so with access `create`. */
  readonly isNew: boolean;
  /** What is read is as it was when it was opened. Only with access `reading`, where no file may be made. */
  readonly isSnapshot: boolean;
  /** Where the tmux server of this data directory listens. */
  readonly socketPath: string;
  /** The configuration file that is used; `null` when there is none. @throws AoError config_invalid */
  configPath(): string | null;
  /**
   * The configuration. `recordedPath` is preferred to the file that would be found from here.
   *
   * @throws AoError config_invalid
   */
  config(recordedPath?: string | null): Promise<Config>;
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

function allAgents(env: Environment, declared: string): Map<string, Agent> {
  const agents = [
    claudeCodeAgent({ env, uid: process.getuid?.() }),
    codexAgent({ env }),
    opencodeAgent({ env }),
    embeddedAgent({ programPath: embeddedProgram(), nodePath: process.execPath }),
    shellAgent(),
    ...[...KNOWN_AGENTS, ...readDeclarations(declared)].map((one) => declaredAgent(one, env)),
  ];
  return new Map(agents.map((agent) => [agent.name, agent]));
}

function socketFor(stores: Store, digest: string, env: Environment): string {
  const { XDG_RUNTIME_DIR: xdg, TMPDIR: temporary } = env;
  const chosen = chooseSocketPath({
    xdgRuntimeDir: xdg && existsSync(xdg) ? xdg : undefined,
    tmpDir: temporary && existsSync(temporary) ? temporary : "/tmp",
    uid: process.getuid?.() ?? 0,
    dataDirDigest: digest,
  });
  return rememberedSocket(stores, chosen);
}

interface Parts extends OpenedStore {
  readonly lookup: Lookup;
  readonly env: Environment;
  readonly ids: IdSource;
  readonly socketPath: string;
  readonly command: string;
}

async function ownIdentity(processes: ProcessTable): Promise<ProcessIdentity> {
  const identity = await processes.identify(process.pid);
  if (identity !== undefined) return identity;
  throw new AoError("internal", `process ${process.pid} does not find itself among the processes`);
}

/** All of `ao` is one writer: what two commands could not both save is kept in one copy. */
function transcriptsOn(deps: Pick<SessionDeps, "locks" | "clock">): SessionDeps["transcripts"] {
  return transcriptStore({ ...deps, files: systemTranscriptFiles(), sha256, writer: "ao" });
}

async function sessionDeps(parts: Parts): Promise<SessionDeps & { readonly agents: Map<string, Agent> }> {
  const { store, dataDir, env, ids, socketPath, command } = parts;
  const processes = systemProcessTable();
  const layout = dataLayout(dataDir);
  const inbox = fileInbox({ dir: layout.inbox });
  const [{ tmuxRuntime }, { tmuxMessenger }] = await Promise.all([
    import("./adapters/tmux/tmux-runtime.ts"),
    import("./adapters/tmux/tmux-messenger.ts"),
  ]);
  const agents = allAgents(env, layout.declaredAgents);
  const { boundary, clock } = await faultSeams(env, systemClock());
  const self = { process: await ownIdentity(processes), command };
  const lockOptions = { dir: layout.locks, self, processes };
  const locks = lazyLocks(lockOptions);
  const gitOptions = {
    ...{ env, processes, lockOptions, boundary, locks },
    ...{ managedRoot: layout.worktreesRoot, trashDir: layout.trash },
    ignoredRule: lazyRules(parts.lookup, store.sessions, () => git.repositories),
  };
  const git: ReturnType<typeof lazyGit> = lazyGit(gitOptions);
  return {
    ...git,
    store: store.sessions,
    operations: store.operations,
    changes: store.changes,
    turns: store.turns,
    messages: store.messages,
    ...{ goals: store.goals, goalChecks: systemGoalChecks() },
    checkpoints: git.snapshots,
    spares: lazySpares({ ...gitOptions, lookup: parts.lookup }, () => git.repositories),
    ...{ locks, transcripts: transcriptsOn({ locks, clock }) },
    runtime: tmuxRuntime({ socketPath, stateDir: layout.runtimeState, env, processes, locks }),
    messenger: tmuxMessenger({ env, processes, stateDir: layout.runtimeState }),
    agents,
    inbox,
    processes,
    programs: systemPrograms(),
    files: systemFiles({ dataDir }),
    clock,
    ids,
    self,
    boundary,
    dataDir,
    callerEnv: env,
  };
}

/**
 * Opens `ao`: puts the adapters together for one data directory. Close it when done.
 *
 * @throws AoError data_dir_unusable, store_corrupt, store_newer or store_busy
 * @throws AoError config_invalid when `configPath` names no file.
 */
export async function openAo(options: OpenOptions): Promise<Ao> {
  const { env, cwd, configPath, access, command = "ao" } = options;
  const directory = dataDirectory(env, cwd);
  const opened = await openStore(directory, options);
  const ids = systemIds();
  const socketPath = socketFor(opened.store, ids.digest(opened.dataDir), env);
  const lookup = {
    ...{ explicitPath: configPath, recordedPath: undefined, env, cwd },
    home: homeDirectory(env),
    uid: process.getuid?.(),
  };
  const deps = await sessionDeps({ ...opened, env, ids, socketPath, command, lookup });
  if (configPath !== undefined) findConfigFile(lookup);
  const repositoryOf = async (folder: string) => (await deps.repositories.find(folder))?.path;
  return {
    deps,
    cwd,
    dataDirectory: directory,
    isNew: opened.isNew,
    isSnapshot: opened.store.isSnapshot,
    socketPath,
    configPath: () => findConfigFile(lookup) ?? null,
    async config(recordedPath) {
      const { loadConfig } = await import("./adapters/config/load-config.ts");
      const config = await loadConfig({ ...lookup, recordedPath: recordedPath ?? undefined, repositoryOf });
      for (const one of config.declaredAgents) deps.agents.set(one.name, declaredAgent(one, env));
      // A session must be found again from where this file is not.
      const keeps = access === "create" || (access === "existing" && !opened.isNew);
      if (keeps) keepDeclarations(dataLayout(opened.dataDir).declaredAgents, config.declaredAgents);
      return config;
    },
    close: () => deps.store.close(),
  };
}

/** The inbox of the data directory, when that is there. No store is opened. */
export function openInbox({ env, cwd }: Pick<OpenOptions, "env" | "cwd">): Inbox | undefined {
  const directory = dataDirectory(env, cwd);
  return directory.exists() ? fileInbox({ dir: dataLayout(directory.resolved()).inbox }) : undefined;
}

/** The JSON Schema of a configuration file. */
export async function loadConfigSchema(): Promise<unknown> {
  const { configJsonSchema } = await import("./adapters/config/schema.ts");
  return configJsonSchema();
}
