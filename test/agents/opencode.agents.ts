import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentSuite } from "./agent-world.ts";
import { run } from "./model/steps.ts";
import { agentScenarios } from "./scenarios.ts";

const KEY = "sk-opencode-scripted";

const OPENCODE: AgentSuite = {
  agent: "opencode",
  prepare({ home, model }) {
    const provider = {
      npm: "@ai-sdk/openai-compatible",
      name: "Scripted",
      options: { baseURL: `${model.url}/v1`, apiKey: "{env:SCRIPTED_KEY}" },
      models: { scripted: { name: "Scripted" } },
    };
    const folder = join(home, ".config", "opencode");
    mkdirSync(folder, { recursive: true });
    const settings = { model: "scripted/scripted", provider: { scripted: provider } };
    writeFileSync(join(folder, "opencode.json"), JSON.stringify(settings));
    return { SCRIPTED_KEY: KEY, OPENCODE_DISABLE_MODELS_FETCH: "1" };
  },
  secret: KEY,
  settings: [
    ".config/opencode/opencode.json",
    ".config/opencode/config.json",
    ".config/opencode/opencode.jsonc",
  ],
  freely: [],
  asking: (file) => run(`touch ${file}`),
  askingScreen: /Permission required/,
  approve: ["Enter"],
};

agentScenarios(OPENCODE);
