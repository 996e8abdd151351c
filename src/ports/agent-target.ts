import type { LaunchId, SessionId } from "../domain/ids.ts";
import type { MessageTarget } from "./messenger.ts";

/** Where what an agent keeps of one launch lies. */
export interface AgentPlace {
  readonly agentSessionId: string | null;
  readonly workspacePath: string;
  readonly dataDir: string;
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
