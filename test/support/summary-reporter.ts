import type { Reporter, TestModule } from "vitest/node";

interface Count {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

function countModule(module: TestModule): Count {
  const states = [...module.children.allTests()].map((test) => test.result().state);
  const of = (wanted: string) => states.filter((state) => state === wanted).length;
  const failed = of("failed");
  // A file that failed outside of a test, in a hook or while loading, counts as one failure.
  const failedOutside = failed === 0 && !module.ok() ? 1 : 0;
  return { passed: of("passed"), failed: failed + failedOutside, skipped: of("skipped") + of("pending") };
}

/** Ends a run with one plain line, `N passed, N failed, N skipped`, for tools that read test output. */
export function summaryReporter(): Reporter {
  return {
    onTestRunEnd(modules, unhandledErrors): void {
      const counts = modules.map(countModule);
      const sum = (key: keyof Count) => counts.reduce((total, count) => total + count[key], 0);
      const failed = sum("failed") + unhandledErrors.length;
      process.stdout.write(`\n${sum("passed")} passed, ${failed} failed, ${sum("skipped")} skipped\n`);
    },
  };
}
