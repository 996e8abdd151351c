import type { Reporter, TestModule } from "vitest/node";

/** Ends a run with one plain line, `N passed, N failed, N skipped`, for tools that read test output. */
export default function summaryReporter(): Reporter {
  return {
    onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
      const count = { passed: 0, failed: unhandledErrors.length, skipped: 0 };
      for (const module of modules) {
        let failedHere = 0;
        for (const test of module.children.allTests()) {
          const { state } = test.result();
          if (state === "passed") count.passed += 1;
          else if (state === "failed") failedHere += 1;
          else count.skipped += 1;
        }
        count.failed += failedHere > 0 || module.ok() ? failedHere : 1;
      }
      process.stdout.write(`\n${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped\n`);
    },
  };
}
