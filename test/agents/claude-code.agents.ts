import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentSuite } from "./agent-world.ts";
import { run } from "./model/steps.ts";
import { agentScenarios } from "./scenarios.ts";

const KEY = "sk-ant-scripted";

const CLAUDE: AgentSuite = {
  agent: "claude-code",
  prepare({ home, model }) {
    // What a person has who used it before: no onboarding, and this key was approved once.
    const known = { hasCompletedOnboarding: true, customApiKeyResponses: { approved: [KEY], rejected: [] } };
    writeFileSync(join(home, ".claude.json"), JSON.stringify(known));
    return {
      ANTHROPIC_BASE_URL: model.url,
      ANTHROPIC_API_KEY: KEY,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    };
  },
  secret: KEY,
  settings: [".claude/settings.json", ".claude/settings.local.json"],
  freely: ["--allowedTools", "Bash"],
  asking: (file) => run(`touch ${file}`),
  askingScreen: /Do you want to proceed\?/,
  approve: ["Enter"],
};

agentScenarios(CLAUDE);
