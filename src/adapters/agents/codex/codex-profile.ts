import type { AgentProfile } from "../../../ports/agent-profile.ts";
import { HOOK_EVENTS } from "./interpret.ts";

/** Seen with the real program; test/agents/codex.agents.ts repeats it. */
export const CODEX_PROFILE: AgentProfile = {
  hookEvents: HOOK_EVENTS,
  promptInArgv: "stays_open",
  readiness: "screen",
  interruptKeys: ["Escape"],
  interruptEvidence: "hook",
  trust: "per_launch",
  ownLog: { location: "~/.codex/sessions/<date>/rollout-<time>-<conversation>.jsonl", format: "JSON lines" },
  tested: { from: "0.171.0", to: "0.171.0", on: "2026-12-01" },
};
