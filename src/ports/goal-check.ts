/** A command of the user's that tells whether a goal is reached. */
export interface GoalCheckRun {
  /** As the user wrote it: one argument for `sh -c`, never put together with anything. */
  readonly command: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** The command and all that it started are ended then. */
  readonly timeoutMs: number;
  /** The end of its output is kept, both outputs in the order in which they came. */
  readonly maxChars: number;
}

export type GoalCheckResult =
  | { readonly kind: "ended"; readonly exitCode: number; readonly output: string; readonly isCut: boolean }
  /** By a signal, or because the time was up. */
  | { readonly kind: "broken_off"; readonly why: string; readonly output: string; readonly isCut: boolean }
  | { readonly kind: "not_run"; readonly why: string };

/** Runs it. Behaviour every adapter owes: test/contract/goal-check.contract.ts. */
export interface GoalCheckRunner {
  /** Never rejects. */
  run(run: GoalCheckRun): Promise<GoalCheckResult>;
}
