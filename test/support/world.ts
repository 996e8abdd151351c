import { type MemoryAgent, memoryAgent } from "../../src/adapters/memory/agent.ts";
import { noCheckpoints } from "../../src/adapters/memory/checkpoints.ts";
import { type MemoryClock, memoryClock } from "../../src/adapters/memory/clock.ts";
import { type MemoryFiles, memoryFiles } from "../../src/adapters/memory/files.ts";
import { type MemoryGoalChecks, memoryGoalChecks } from "../../src/adapters/memory/goal-checks.ts";
import { memoryIds } from "../../src/adapters/memory/ids.ts";
import { memoryInbox } from "../../src/adapters/memory/inbox.ts";
import { memoryLocks } from "../../src/adapters/memory/locks.ts";
import type { MemoryRun } from "../../src/adapters/memory/memory-run.ts";
import { type MemorySnapshots, memorySnapshots } from "../../src/adapters/memory/memory-snapshots.ts";
import {
  type MemoryTranscriptFiles,
  memoryTranscriptFiles,
} from "../../src/adapters/memory/memory-transcript-files.ts";
import { type MemoryMessenger, memoryMessenger } from "../../src/adapters/memory/messenger.ts";
import { type MemoryProcessTable, memoryProcessTable } from "../../src/adapters/memory/process-table.ts";
import { memoryPrograms } from "../../src/adapters/memory/programs.ts";
import { type MemoryRepositories, memoryRepositories } from "../../src/adapters/memory/repositories.ts";
import { type MemoryRuntime, memoryRuntime } from "../../src/adapters/memory/runtime.ts";
import { noSpares } from "../../src/adapters/memory/spares.ts";
import { memoryStore } from "../../src/adapters/memory/store.ts";
import { type MemoryWorkspace, memoryWorkspace } from "../../src/adapters/memory/workspace.ts";
import type { HookEvent } from "../../src/domain/facts.ts";
import type { SessionId } from "../../src/domain/ids.ts";
import type { Project } from "../../src/domain/project.ts";
import type { SessionRecord } from "../../src/domain/session.ts";
import type { SessionDeps } from "../../src/lifecycle/deps.ts";
import { killSession } from "../../src/lifecycle/kill/kill-session.ts";
import type { ProjectSettings } from "../../src/lifecycle/projects/projects.ts";
import { restoreSession } from "../../src/lifecycle/restore/restore-session.ts";
import type { SpawnRequest } from "../../src/lifecycle/spawn/spawn-request.ts";
import { spawnSession } from "../../src/lifecycle/spawn/spawn-session.ts";
import type { AgentCapabilities } from "../../src/ports/agent.ts";
import type { Files } from "../../src/ports/files.ts";
import type { MessageTarget } from "../../src/ports/messenger.ts";
import type { RuntimeSpec } from "../../src/ports/runtime.ts";
import type { SessionStore } from "../../src/ports/session-store.ts";
import { aProject, T0_MS } from "./builders.ts";
import { storeOn } from "./transcripts.ts";

/** Calls of store and files that a world can let fail; runtime, workspace and messenger have their own lever. */
export type FaultPoint = "store.insert" | "store.save" | "store.verify" | "files.write" | "files.removeTree";

export interface WorldOptions {
  /** What the agent can; everything when not given. */
  readonly capabilities?: Partial<AgentCapabilities>;
  /** What a started agent does; it stays when not given. */
  readonly behaviour?: (spec: RuntimeSpec) => MemoryRun;
  readonly callerEnv?: Readonly<Record<string, string>>;
}

/** Everything the session commands need, in memory, with one log of the calls that have effects, in order. */
export interface World {
  readonly deps: SessionDeps;
  /** For example `workspace.create app-1`, `store.save app-1 terminated/manually_killed`. */
  readonly log: string[];
  readonly runtime: MemoryRuntime;
  readonly workspace: MemoryWorkspace;
  readonly snapshots: MemorySnapshots;
  readonly messenger: MemoryMessenger;
  readonly repositories: MemoryRepositories;
  /** The agent called `memory`. */
  readonly agent: MemoryAgent;
  readonly clock: MemoryClock;
  readonly files: MemoryFiles;
  readonly transcriptFiles: MemoryTranscriptFiles;
  readonly processes: MemoryProcessTable;
  readonly goalChecks: MemoryGoalChecks;
  /** Registered, repository at `/repo/app`. */
  readonly project: Project;
  readonly settings: ProjectSettings;
  /** The next call of `point`, or the one after `spared` more, throws `error` and changes nothing. */
  failNext(point: FaultPoint, error: Error, spared?: number): void;
  /** From now on the row of a session cannot be read. */
  spoil(id: SessionId, flaw?: string): void;
  /** Takes back what `failNext` was told and nothing met. */
  heal(): void;
  /** The row of a session; a test for one that has none fails. */
  row(id: SessionId): SessionRecord;
  spawn(overrides?: Partial<SpawnRequest>): Promise<SessionRecord>;
  kill(id: SessionId): Promise<unknown>;
  restore(id: SessionId): Promise<SessionRecord>;
  /** Leaves an event of the session's current launch in the inbox, at the clock's time. */
  hear(id: SessionId, event: string, overrides?: Partial<HookEvent>): Promise<void>;
  /** Forgets the calls so far. */
  clearLog(): void;
}

const NO_SETTINGS: ProjectSettings = {
  env: {},
  agentRules: null,
  postCreate: { symlinks: [], copy: [], commands: [], timeoutMs: 1000 },
};

/** A fresh world with one project, its repository, and the agent `memory` installed. */
export function aWorld(options: WorldOptions = {}): World {
  const log: string[] = [];
  const faults = new Map<FaultPoint, (Error | null)[]>();
  const meet = (point: FaultPoint) => {
    const error = faults.get(point)?.shift();
    if (error) throw error;
  };
  const pass = (point: FaultPoint, subject: string) => {
    log.push(`${point} ${subject}`);
    meet(point);
  };

  const clock = memoryClock(T0_MS);
  const agent = memoryAgent(options.capabilities);
  const runtime = memoryRuntime({ log, ...(options.behaviour && { behaviour: options.behaviour }) });
  const workspace = memoryWorkspace({ log });
  const snapshots = memorySnapshots({ workspace, log });
  const inbox = memoryInbox();
  const messenger = memoryMessenger({
    log,
    onHeard: (target, text) => inbox.put(submission(agent.name, target, { text, atMs: clock.nowMs() })),
  });
  const project = aProject({ repositoryPath: "/repo/app" });
  const repositories = memoryRepositories([{ path: "/repo/app", bare: false }]);
  const files = memoryFiles();
  const { sessions, operations, changes, turns, messages, goals } = memoryStore();
  const store = { ...loggedStore(sessions, pass), verify: () => meet("store.verify") };
  store.insertProject(project);

  const processes = memoryProcessTable();
  const goalChecks = memoryGoalChecks();
  const locks = memoryLocks();
  const transcriptFiles = memoryTranscriptFiles();
  const deps: SessionDeps = {
    ...{ store, operations, changes, turns, messages, goals, goalChecks },
    ...{ runtime, workspace, snapshots, repositories, messenger, inbox, clock },
    checkpoints: noCheckpoints(),
    spares: noSpares(),
    ...{ locks, transcripts: storeOn(transcriptFiles, { locks, writer: "ao", clock }) },
    agents: new Map([[agent.name, agent]]),
    processes,
    programs: memoryPrograms(["/bin/agent"]),
    files: loggedFiles(files, pass, (path) => workspace.exists(path) || repositories.has(path)),
    ids: memoryIds(),
    self: { process: processes.add({ command: "ao" }), command: "ao" },
    boundary: async () => {},
    dataDir: "/data",
    callerEnv: options.callerEnv ?? { PATH: "/bin", HOME: "/home/user" },
  };
  const row = (id: SessionId) => mustHave(store.get(id), id);
  return {
    ...{
      deps,
      log,
      runtime,
      workspace,
      snapshots,
      messenger,
      repositories,
      agent,
      clock,
      files,
      processes,
      project,
    },
    ...{ transcriptFiles, goalChecks },
    settings: NO_SETTINGS,
    failNext(point, error, spared = 0) {
      const spare = Array.from({ length: spared }, () => null);
      faults.set(point, [...(faults.get(point) ?? []), ...spare, error]);
    },
    spoil: (id, flaw = "metadata.branch") => sessions.spoil(id, flaw),
    heal: () => faults.clear(),
    row,
    async spawn(overrides = {}) {
      const { record } = await spawnSession(deps, aSpawnRequest(project, overrides));
      if (record.metadata.agentSessionId !== null) agent.addConversation(record.metadata.agentSessionId);
      return record;
    },
    kill: (id) =>
      killSession(deps, id, { reason: "manual", note: null, keepWorktree: false, callerSessionId: null }),
    restore: async (id) => (await restoreSession(deps, id, { fresh: false, settings: NO_SETTINGS })).record,
    hear: (id, event, overrides = {}) => inbox.put(eventOf(row(id), event, clock.nowMs(), overrides)),
    clearLog: () => void log.splice(0),
  };
}

/** A request for a worker on issue 42 by the agent `memory`. */
export function aSpawnRequest(project: Project, overrides: Partial<SpawnRequest> = {}): SpawnRequest {
  return {
    project,
    settings: NO_SETTINGS,
    agent: "memory",
    agentArgs: [],
    issueId: "42",
    title: null,
    prompt: "do the thing",
    branch: null,
    baseRef: null,
    kind: "worker",
    model: null,
    permissions: "default",
    configPath: null,
    ...overrides,
  };
}

type Pass = (point: FaultPoint, subject: string) => void;

function loggedStore(store: SessionStore, pass: Pass): SessionStore {
  return {
    ...store,
    insert(record, prompt) {
      pass("store.insert", `${record.id} ${stateOf(record)}`);
      return store.insert(record, prompt);
    },
    save(record, readRevision) {
      pass("store.save", `${record.id} ${stateOf(record)}`);
      return store.save(record, readRevision);
    },
  };
}

function stateOf({ lifecycle: { session, runtime }, metadata }: SessionRecord): string {
  const freed = metadata.workspaceFreedAtMs === null ? "" : " freed";
  return `${session.state}/${session.reason ?? "none"} ${runtime.state}${freed}`;
}

/** The twins of workspace, repositories and files know nothing of each other; for `exists` they are one disk. */
function loggedFiles(files: MemoryFiles, pass: Pass, isElsewhere: (path: string) => boolean): Files {
  return {
    read: files.read,
    removeEmptyFolder: files.removeEmptyFolder,
    removeDrafts: files.removeDrafts,
    names: files.names,
    exists: async (path) => isElsewhere(path) || (await files.exists(path)),
    async write(path, content) {
      pass("files.write", path);
      await files.write(path, content);
    },
    async removeTree(path) {
      pass("files.removeTree", path);
      await files.removeTree(path);
    },
  };
}

function eventOf(
  { id, metadata }: SessionRecord,
  event: string,
  atMs: number,
  overrides: Partial<HookEvent>,
): Omit<HookEvent, "id"> {
  const { launchId, agent } = metadata;
  return { sessionId: id, launchId, agent, event, atMs, body: "", ...overrides };
}

/** What an agent tells of a text that was typed to it. */
function submission(
  agent: string,
  { sessionId, launchId }: MessageTarget,
  { text, atMs }: { readonly text: string; readonly atMs: number },
): Omit<HookEvent, "id"> {
  return { sessionId, launchId, agent, event: "submit", atMs, body: text };
}

function mustHave(record: SessionRecord | undefined, id: SessionId): SessionRecord {
  if (record === undefined) throw new Error(`session ${id} has no row`);
  return record;
}
