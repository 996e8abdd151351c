import { defineConfig } from "vitest/config";
import { summaryReporter } from "./test/support/summary-reporter.ts";

/** The whole crash suite, one file at a time: what is measured must not share the machine. */
export default defineConfig({
  test: {
    include: ["test/crash/**/*.crash.ts"],
    fileParallelism: false,
    testTimeout: 3_600_000,
    hookTimeout: 60_000,
    reporters: ["verbose", summaryReporter()],
  },
});
