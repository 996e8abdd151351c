import type { AgentProfile } from "../../../ports/agent-profile.ts";
import { HOOK_EVENTS } from "./interpret.ts";

/** Seen with the real program; test/agents/opencode.agents.ts repeats it. */
export const OPENCODE_PROFILE: AgentProfile = {
  hookEvents: HOOK_EVENTS,
  promptInArgv: "stays_open",
  readiness: "screen",
  // Twice, and not always taken in time: a turn is stopped through the plugin.
  interruptKeys: ["Escape", "Escape"],
  interruptEvidence: "hook",
  trust: "none_needed",
  ownLog: { location: "~/.local/share/opencode/opencode.db", format: "SQLite" },
  tested: { from: "1.18.33", to: "1.18.33", on: "2026-12-01" },
};
