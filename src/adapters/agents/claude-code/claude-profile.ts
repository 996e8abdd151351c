import type { AgentProfile } from "../../../ports/agent-profile.ts";
import { HOOK_EVENTS } from "./interpret.ts";

/** Seen with the real program; test/agents/claude-code.agents.ts repeats it. */
export const CLAUDE_PROFILE: AgentProfile = {
  hookEvents: HOOK_EVENTS,
  promptInArgv: "stays_open",
  readiness: "file",
  interruptKeys: ["Escape"],
  interruptEvidence: "file",
  trust: "per_launch",
  ownLog: { location: "~/.claude/projects/<workspace>/<conversation>.jsonl", format: "JSON lines" },
  tested: { from: "2.1.197", to: "2.1.197", on: "2026-11-30" },
};
