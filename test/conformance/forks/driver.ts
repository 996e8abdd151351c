import type { ForkStatus } from "../../../src/domain/fork.ts";

/** Faults of a fresh place, by name and never by how they are brought about. */
export interface ForkFixture {
  /** The first commit of what the agent made fails. */
  readonly failFirstLocalCommit?: boolean;
  /** A fork is there whose agent has accepted, as a dead process left it. */
  readonly recoverProviderAccepted?: boolean;
  /** What that fork copies is no longer what was put on record. */
  readonly recoverPermanentlyInconsistent?: boolean;
  /** The source works on a later turn. */
  readonly keepSourceActive?: boolean;
  /** A fork is there whose process died while the agent was asked. */
  readonly recoverDispatching?: boolean;
  /** A fork is there whose process died before the agent was asked. */
  readonly recoverPrepared?: boolean;
  /** What the agent does with the call. */
  readonly agent?: "refuses" | "breaks off" | "names its source";
}

export interface ForkAsk {
  readonly requestId?: string;
  readonly title?: string | null;
  /** A turn of the source by its number, from 1; the second by default. */
  readonly turn?: number;
}

/** What is seen of a fork. */
export interface SeenFork {
  readonly status: ForkStatus;
  /** The session, when it has a row. */
  readonly sessionId: string | null;
  /** The conversation that is on record for it. */
  readonly agentSessionId: string | null;
}

export interface ForkOutcomeSeen extends Partial<SeenFork> {
  /** The code of the error. */
  readonly error: string | null;
}

/**
 * A host with a source of three turns, the first two with conversation and files, which scenarios are written
 * against. Every call is of a process of its own.
 */
export interface SessionForkDriver {
  reset(fixture: ForkFixture): Promise<void>;
  fork(ask?: ForkAsk): Promise<ForkOutcomeSeen>;
  /** The fork of the fixture or of a request. */
  operation(requestId?: string): Promise<SeenFork | undefined>;
  /** Recovers what was left. @returns the errors. */
  recover(): Promise<readonly string[]>;
  /** How often an agent was asked for a conversation since `reset`. */
  metrics(): Promise<{ readonly agentForkCalls: number }>;
  /** Rows of forks, and things of forks that no row has: worktrees, branches, runtimes, refs. */
  traces(): Promise<{ readonly sessions: number; readonly orphans: readonly string[] }>;
}
