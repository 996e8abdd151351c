import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { CODEX_PROFILE } from "../../src/adapters/agents/codex/codex-profile.ts";
import { agentVersion } from "./agent-programs.ts";
import type { AgentSuite } from "./agent-world.ts";
import { agentScenarios } from "./scenarios.ts";

const KEY = "sk-codex-scripted";

const CODEX: AgentSuite = {
  agent: "codex",
  prepare({ home, model }) {
    mkdirSync(join(home, ".codex"));
    // What a person has who used it before; the last lines are those that codex writes at its first start.
    const settings = [
      'model = "scripted"',
      'model_provider = "scripted"',
      "",
      "[model_providers.scripted]",
      'name = "scripted"',
      `base_url = "${model.url}/v1"`,
      'env_key = "SCRIPTED_KEY"',
      'wire_api = "responses"',
      "",
      "[tui]",
      "screen_reader_detection_done = true",
      "",
      "[tui.model_availability_nux]",
      '"gpt-6.1-sol" = 4',
      "",
    ];
    writeFileSync(join(home, ".codex", "config.toml"), settings.join("\n"));
    return { SCRIPTED_KEY: KEY };
  },
  secret: KEY,
  settings: [".codex/config.toml", ".codex/hooks.json", ".codex/AGENTS.md"],
  freely: ["--sandbox", "danger-full-access", "--ask-for-approval", "never"],
  asking: (file) => ({ kind: "run", command: `touch ${file}`, asks: true }),
  askingScreen: /Would you like to run the following command\?/,
  approve: ["y"],
};

agentScenarios(CODEX);

test("the version that was pinned here is the one that its adapter says it was tested with", () => {
  expect(CODEX_PROFILE.tested).toMatchObject({ to: agentVersion("@openai/codex") });
});
