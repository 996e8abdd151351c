import { defineConfig } from "vitest/config";
import { summaryReporter } from "./test/support/summary-reporter.ts";

/** The real agents, at pinned versions, against a model server on loopback. Two files at a time: each starts programs. */
export default defineConfig({
  test: {
    include: ["test/agents/**/*.agents.ts"],
    globalSetup: ["test/agents/install.ts"],
    maxWorkers: 2,
    testTimeout: 400_000,
    hookTimeout: 600_000,
    reporters: ["verbose", summaryReporter()],
  },
});
