import type { LaunchId, ProjectId, SessionId } from "./ids.ts";

/** What an agent is told of itself, each as one `AO_*` variable (cli.md §2). */
export interface AgentIdentity {
  readonly sessionId: SessionId;
  readonly projectId: ProjectId;
  readonly issueId: string | null;
  readonly dataDir: string;
  readonly launchId: LaunchId;
  /** The configuration file in use, if any. */
  readonly configPath: string | null;
}

export interface AgentEnvironmentInput {
  /** The environment of the command that starts the agent. */
  readonly callerEnv: Readonly<Record<string, string | undefined>>;
  /** The project's own `env`. */
  readonly projectEnv: Readonly<Record<string, string>>;
  /** What the agent adapter asks for. */
  readonly agentEnv: Readonly<Record<string, string>>;
  readonly ao: AgentIdentity;
}

/**
 * Variables that say where a repository is, and would lead the agent's git elsewhere than its worktree:
 * `git rev-parse --local-env-vars` (git 2.39.5), and the quarantine of a receiving hook, in which every
 * ref update is refused (git-receive-pack(1)). What a user sets for all repositories stays, for example
 * GIT_AUTHOR_NAME, GIT_SSH_COMMAND and GIT_CEILING_DIRECTORIES.
 */
const GIT_LOCATION: ReadonlySet<string> = new Set([
  "GIT_ALTERNATE_OBJECT_DIRECTORIES",
  "GIT_CONFIG",
  "GIT_CONFIG_PARAMETERS",
  "GIT_CONFIG_COUNT",
  "GIT_OBJECT_DIRECTORY",
  "GIT_DIR",
  "GIT_WORK_TREE",
  "GIT_IMPLICIT_WORK_TREE",
  "GIT_GRAFT_FILE",
  "GIT_INDEX_FILE",
  "GIT_NO_REPLACE_OBJECTS",
  "GIT_REPLACE_REF_BASE",
  "GIT_PREFIX",
  "GIT_INTERNAL_SUPER_PREFIX",
  "GIT_SHALLOW_FILE",
  "GIT_COMMON_DIR",
  "GIT_QUARANTINE_PATH",
]);

/** Of the caller's terminal; the runtime says what its own is. */
const TERMINAL: ReadonlySet<string> = new Set([
  "TMUX",
  "TMUX_PANE",
  "TMUX_TMPDIR",
  "TERM",
  "COLUMNS",
  "LINES",
]);

/**
 * The whole environment of an agent: the caller's without what belongs to the caller's terminal, session
 * and repository, then the project's, then the agent's, then the `AO_*` names, which nothing overrides.
 * Its inputs are never changed.
 */
export function agentEnvironment(input: AgentEnvironmentInput): Record<string, string> {
  const identity = identityVariables(input.ao);
  const chosen = { ...input.projectEnv, ...input.agentEnv };
  return {
    ...withoutUnset(pick(input.callerEnv, isInherited)),
    ...withoutUnset(pick(chosen, (name) => !Object.hasOwn(identity, name))),
    ...withoutUnset(identity),
  };
}

/** Unset ones are listed too: a project must not name an issue for a session that has none. */
function identityVariables(ao: AgentIdentity): Record<string, string | undefined> {
  return {
    AO_SESSION_ID: ao.sessionId,
    AO_SESSION: ao.sessionId,
    AO_SESSION_NAME: ao.sessionId,
    AO_PROJECT_ID: ao.projectId,
    AO_ISSUE_ID: ao.issueId ?? undefined,
    AO_DATA_DIR: ao.dataDir,
    AO_LAUNCH_ID: ao.launchId,
    AO_CALLER_TYPE: "agent",
    AO_CONFIG_PATH: ao.configPath ?? undefined,
  };
}

function isInherited(name: string): boolean {
  return !name.startsWith("AO_") && !GIT_LOCATION.has(name) && !TERMINAL.has(name);
}

type Variables = Readonly<Record<string, string | undefined>>;

function pick(variables: Variables, isWanted: (name: string) => boolean): Variables {
  return Object.fromEntries(Object.entries(variables).filter(([name]) => isWanted(name)));
}

function withoutUnset(variables: Variables): Record<string, string> {
  return Object.fromEntries(
    Object.entries(variables).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
