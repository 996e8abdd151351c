import type { LaunchId, SessionId } from "../domain/ids.ts";
import type { MessageTarget } from "./messenger.ts";

/** Where the conversations of a session's agent lie. */
export interface ConversationPlace {
  readonly dataDir: string;
  readonly workspacePath: string;
  /** As `Agent.home` told of the launch; `null` when it did not: then the caller's own environment tells. */
  readonly home: string | null;
}

/** The same, for the end of its log. */
export interface LogPlace extends ConversationPlace {
  /** A log that was not changed after it, Unix milliseconds, need not be read. */
  readonly sinceMs?: number;
}

/** Where what an agent keeps of one launch lies. */
export interface AgentPlace extends ConversationPlace {
  readonly agentSessionId: string | null;
  /** The folder of its launch. */
  readonly launchDir: string;
}

/** A launch that is not known to be over, for an agent that looks into its own files. */
export interface RunningLaunch extends AgentPlace {
  readonly sessionId: SessionId;
  readonly launchId: LaunchId;
  /** The agent's process; `null` when none is recorded. */
  readonly pid: number | null;
  readonly nowMs: number;
}

/** One running agent, and where what it keeps lies. */
export interface AgentTarget extends MessageTarget, AgentPlace {}
