import type { AgentProfile } from "../../../ports/agent-profile.ts";
import { PROGRAM_VERSION } from "./program-version.ts";

/** It ships with `ao` and is tested with it. */
export const EMBEDDED_PROFILE: AgentProfile = {
  hookEvents: [
    ...["session_start", "submit", "waiting", "resumed", "reply", "tool", "turn_end", "session_end"],
  ],
  promptInArgv: "unknown",
  readiness: "hook",
  interruptKeys: ["Escape"],
  interruptEvidence: "hook",
  trust: "none_needed",
  ownLog: { location: "embedded/<conversation>.jsonl in the data directory", format: "JSON lines" },
  tested: { from: PROGRAM_VERSION, to: PROGRAM_VERSION, on: "2026-11-30" },
};
