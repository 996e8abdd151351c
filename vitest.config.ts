import { defineConfig } from "vitest/config";
import { summaryReporter } from "./test/support/summary-reporter.ts";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // Most tests wait for git, tmux or a process: more files than processors keep a small machine busy.
    maxWorkers: 3,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: ["default", summaryReporter()],
  },
});
