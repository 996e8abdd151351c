import type { AgentExit } from "./agent-exit.ts";
import { isoTime } from "./iso-time.ts";
import {
  type ActivitySource,
  type ActivityState,
  type CanonicalLifecycle,
  isTerminal,
  type PrSubstate,
  type RuntimeSubstate,
  type SessionSubstate,
} from "./lifecycle.ts";
import type { SessionKind, SessionMetadata, SessionRecord } from "./session.ts";
import { deriveStatus, type Status } from "./status.ts";

interface LifecycleJson {
  readonly version: 1;
  readonly revision: number;
  readonly session: SessionSubstate;
  readonly pr: PrSubstate;
  readonly runtime: RuntimeSubstate;
  readonly activity: {
    readonly state: ActivityState | null;
    readonly lastActivityAt: string | null;
    readonly source: ActivitySource;
  };
  readonly detecting: {
    readonly attempts: number;
    readonly startedAt: string;
    readonly evidenceHash: string;
  } | null;
}

interface ExitJson {
  readonly status: number | null;
  readonly signal: string | null;
  readonly at: string | null;
}

interface RuntimeJson {
  readonly name: string;
  readonly handle: string;
  readonly socketPath: string;
  /** The command that attaches a terminal; `null` when there is nothing to attach to. */
  readonly attach: readonly string[] | null;
  /** How its agent ended; `null` while it runs, and where nobody learnt of it. */
  readonly exit: ExitJson | null;
}

/** A session as every `--json` prints it. Keys and their order are a contract (cli.md §3). */
export interface SessionJson {
  readonly id: string;
  readonly projectId: string;
  readonly projectName: string;
  /** Equals `kind`, for older readers. */
  readonly role: SessionKind;
  readonly kind: SessionKind;
  readonly status: Status;
  readonly title: string | null;
  readonly issueId: string | null;
  readonly agent: string;
  readonly branch: string;
  readonly baseRef: string | null;
  readonly workspacePath: string;
  /** Address of its pull request. */
  readonly pr: string | null;
  readonly prNumber: number | null;
  readonly activity: ActivityState | null;
  readonly lastActivityAt: string | null;
  readonly isTerminated: boolean;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly terminatedAt: string | null;
  readonly agentSessionId: string | null;
  readonly runtime: RuntimeJson | null;
  readonly parentId: string | null;
  readonly forkedFromTurnId: string | null;
  readonly lifecycle: LifecycleJson;
}

export interface SessionJsonContext {
  readonly projectName: string;
  /** The command that attaches a terminal to its runtime; `null` when there is none. */
  readonly attach: readonly string[] | null;
}

/** A session for readers outside, its status derived now. Every key is present, times are ISO 8601 UTC. */
export function toSessionJson(record: SessionRecord, context: SessionJsonContext): SessionJson {
  const { lifecycle, metadata } = record;
  return {
    id: record.id,
    projectId: record.projectId,
    projectName: context.projectName,
    role: record.kind,
    kind: record.kind,
    status: deriveStatus(lifecycle),
    title: metadata.title,
    issueId: record.issueId,
    agent: metadata.agent,
    branch: metadata.branch,
    baseRef: metadata.baseRef,
    workspacePath: metadata.workspacePath,
    pr: lifecycle.pr.url,
    prNumber: lifecycle.pr.number,
    activity: lifecycle.activity.state,
    lastActivityAt: isoTime(lifecycle.activity.lastActivityAtMs),
    isTerminated: isTerminal(lifecycle),
    createdAt: isoTime(record.createdAtMs),
    updatedAt: isoTime(record.updatedAtMs),
    terminatedAt: isoTime(record.terminatedAtMs),
    agentSessionId: metadata.agentSessionId,
    runtime: runtimeJson(metadata, context.attach),
    parentId: metadata.fork?.parentId ?? null,
    forkedFromTurnId: metadata.fork?.turnId ?? null,
    lifecycle: lifecycleJson(lifecycle),
  };
}

function runtimeJson(
  { runtime: handle, exit = null }: SessionMetadata,
  attach: readonly string[] | null,
): RuntimeJson | null {
  if (handle === null) return null;
  const { name, id, socketPath } = handle;
  return { name, handle: id, socketPath, attach, exit: exit && exitJson(exit) };
}

function exitJson({ status, signal, atMs }: AgentExit): ExitJson {
  return { status, signal, at: isoTime(atMs) };
}

function lifecycleJson(lifecycle: CanonicalLifecycle): LifecycleJson {
  const { session, pr, runtime, activity, detecting } = lifecycle;
  return {
    version: lifecycle.version,
    revision: lifecycle.revision,
    session: { state: session.state, reason: session.reason },
    pr: { state: pr.state, reason: pr.reason, number: pr.number, url: pr.url },
    runtime: { state: runtime.state, reason: runtime.reason },
    activity: {
      state: activity.state,
      lastActivityAt: isoTime(activity.lastActivityAtMs),
      source: activity.source,
    },
    detecting: detecting && {
      attempts: detecting.attempts,
      startedAt: isoTime(detecting.startedAtMs),
      evidenceHash: detecting.evidenceHash,
    },
  };
}
