import type { ActivitySignal, PullRequestFacts, RuntimeObservation } from "../../src/domain/facts.ts";
import {
  type LaunchId,
  type ProjectId,
  parseLaunchId,
  parseProjectId,
  parseSessionId,
  type SessionId,
} from "../../src/domain/ids.ts";
import { type CanonicalLifecycle, initialLifecycle } from "../../src/domain/lifecycle.ts";
import type { Project } from "../../src/domain/project.ts";
import type {
  ProcessIdentity,
  RuntimeHandle,
  SessionMetadata,
  SessionRecord,
} from "../../src/domain/session.ts";

/** A moment for tests that need one: 2026-01-02T03:04:05.678Z. */
export const T0_MS = Date.UTC(2026, 0, 2, 3, 4, 5, 678);

/** A session id from its text; a test with a bad one fails at once. */
export function sessionId(text: string): SessionId {
  return must(parseSessionId(text), `session id ${text}`);
}

/** A project id from its text. */
export function projectId(text: string): ProjectId {
  return must(parseProjectId(text), `project id ${text}`);
}

/** A launch id from its text. */
export function launchId(text: string): LaunchId {
  return must(parseLaunchId(text), `launch id ${text}`);
}

/** A lifecycle that was just seeded (not_started, status spawning), with the substates named. */
export function aLifecycle(overrides: Partial<CanonicalLifecycle> = {}): CanonicalLifecycle {
  return { ...initialLifecycle(), ...overrides };
}

/** The lifecycle of a session whose agent is at work. */
export function aWorkingLifecycle(overrides: Partial<CanonicalLifecycle> = {}): CanonicalLifecycle {
  return aLifecycle({
    session: { state: "working", reason: "task_in_progress" },
    runtime: { state: "alive", reason: "process_running" },
    ...overrides,
  });
}

/** The lifecycle of a session that a person killed. */
export function aKilledLifecycle(overrides: Partial<CanonicalLifecycle> = {}): CanonicalLifecycle {
  return aLifecycle({
    session: { state: "terminated", reason: "manually_killed" },
    runtime: { state: "exited", reason: "manual_kill_requested" },
    ...overrides,
  });
}

/** A process that no test machine runs: pids end far below it. */
export function aProcess(overrides: Partial<ProcessIdentity> = {}): ProcessIdentity {
  return { pid: 99_000_001, startTime: "1000", bootId: "boot-1", ...overrides };
}

/** The handle of a tmux session that does not exist. */
export function aRuntimeHandle(overrides: Partial<RuntimeHandle> = {}): RuntimeHandle {
  return {
    name: "tmux",
    id: "$3",
    paneId: "%4",
    socketPath: "/nowhere/tmux.sock",
    server: aProcess({ pid: 99_000_000, startTime: "900" }),
    ...overrides,
  };
}

/** What a session was asked to do: the shell agent, branch session/app-1. */
function aMetadata(overrides: Partial<SessionMetadata> = {}): SessionMetadata {
  return {
    title: null,
    agent: "shell",
    agentArgs: [],
    model: null,
    permissions: "default",
    agentSessionId: null,
    previousAgentSessionIds: [],
    launchId: launchId("launch-1"),
    repositoryPath: "/nowhere/app",
    branch: "session/app-1",
    baseRef: "main",
    baseCommit: "1111111111111111111111111111111111111111",
    workspacePath: "/nowhere/data/worktrees/app/app-1",
    workspaceFreedAtMs: null,
    runtime: aRuntimeHandle(),
    process: aProcess(),
    heard: null,
    killNote: null,
    configPath: null,
    ...overrides,
  };
}

/** What `aSession` may be told: ids as plain text, substates and metadata in part. */
export type SessionOverrides = Partial<Omit<SessionRecord, "id" | "projectId" | "lifecycle" | "metadata">> & {
  readonly id?: string;
  readonly projectId?: string;
  readonly lifecycle?: Partial<CanonicalLifecycle>;
  readonly metadata?: Partial<SessionMetadata>;
};

/** A session `app-1` of project `app`, just spawned at `T0_MS`. Branch and workspace follow the ids. */
export function aSession(overrides: SessionOverrides = {}): SessionRecord {
  const { id = "app-1", projectId: project = "app", lifecycle, metadata, ...rest } = overrides;
  return {
    id: sessionId(id),
    projectId: projectId(project),
    issueId: null,
    kind: "worker",
    createdAtMs: T0_MS,
    updatedAtMs: T0_MS,
    terminatedAtMs: null,
    lifecycle: aLifecycle({ runtime: { state: "alive", reason: "process_running" }, ...lifecycle }),
    metadata: aMetadata({
      branch: `session/${id}`,
      workspacePath: `/nowhere/data/worktrees/${project}/${id}`,
      ...metadata,
    }),
    ...rest,
  };
}

/** A session that a person killed a second after `T0_MS`. */
export function aKilledSession(overrides: SessionOverrides = {}): SessionRecord {
  return aSession({
    terminatedAtMs: T0_MS + 1_000,
    updatedAtMs: T0_MS + 1_000,
    ...overrides,
    lifecycle: aKilledLifecycle(overrides.lifecycle),
  });
}

/** Project `app` with prefix `app` and branch `main`. */
export function aProject(overrides: Partial<Omit<Project, "id">> & { readonly id?: string } = {}): Project {
  const { id = "app", ...rest } = overrides;
  return {
    id: projectId(id),
    name: id,
    repositoryPath: `/nowhere/${id}`,
    prefix: id,
    defaultBranch: "main",
    createdAtMs: T0_MS,
    ...rest,
  };
}

/** A look that found runtime and process alive. */
export function anObservation(overrides: Partial<RuntimeObservation> = {}): RuntimeObservation {
  return { runtime: { kind: "alive", lastOutputAtMs: null }, process: { kind: "alive" }, ...overrides };
}

/** A valid `active` heard through a hook of launch `launch-1` at `T0_MS`. */
export function anActivitySignal(overrides: Partial<ActivitySignal> = {}): ActivitySignal {
  return {
    state: "active",
    confidence: "valid",
    source: "hook",
    atMs: T0_MS,
    launchId: launchId("launch-1"),
    ...overrides,
  };
}

type OpenPullRequest = Extract<PullRequestFacts, { readonly kind: "open" }>;

/** An open pull request 9 with nothing to say of it. */
export function anOpenPullRequest(overrides: Partial<OpenPullRequest> = {}): OpenPullRequest {
  return {
    kind: "open",
    number: 9,
    url: "https://example.test/o/r/pull/9",
    draft: false,
    ci: "none",
    review: "none",
    humanComments: false,
    botComments: false,
    conflicts: false,
    mergeable: false,
    idleBeyondThreshold: false,
    ...overrides,
  };
}

function must<Value>(value: Value | undefined, what: string): Value {
  if (value === undefined) throw new Error(`not a valid ${what}`);
  return value;
}
