import { AoError, errorMessage } from "../domain/errors.ts";

/** How one finished step is taken back. */
export interface UndoStep {
  /** What stays if it cannot be, for example `worktree`, and where. */
  readonly what: string;
  readonly where: string;
  /** What was done before stands on this; while it cannot be taken back, that is left alone too. */
  readonly guardsEarlier?: boolean;
  /** `cause` is the failure that made the undo necessary. */
  run(cause: unknown): Promise<void> | void;
}

/** Something that an undo could not take away. */
export interface Leftover {
  readonly what: string;
  readonly where: string;
  readonly why: string;
}

/**
 * Runs `work`, which adds one undo step for each step it finishes. When it throws, the steps are taken
 * back, the last one first, and the same error is thrown; one that could not be taken back is named in
 * `details.left` of an error with the first one's code.
 */
export async function withUndo<Result>(work: (undo: UndoStep[]) => Promise<Result>): Promise<Result> {
  const undo: UndoStep[] = [];
  try {
    return await work(undo);
  } catch (error) {
    const left = await takeBack(undo, error);
    throw left.length === 0 ? error : withLeftovers(error, left);
  }
}

async function takeBack(undo: readonly UndoStep[], cause: unknown): Promise<readonly Leftover[]> {
  const left: Leftover[] = [];
  let guard: UndoStep | null = null;
  for (const step of undo.toReversed()) {
    const why: string | null = guard === null ? await failureOf(step, cause) : `${guard.what} is still there`;
    if (why === null) continue;
    left.push({ what: step.what, where: step.where, why });
    if (step.guardsEarlier === true) guard = step;
  }
  return left;
}

async function failureOf(step: UndoStep, cause: unknown): Promise<string | null> {
  try {
    await step.run(cause);
    return null;
  } catch (error) {
    return errorMessage(error);
  }
}

function withLeftovers(error: unknown, left: readonly Leftover[]): AoError {
  const first = error instanceof AoError ? error : new AoError("internal", errorMessage(error));
  const named = left.map(({ what, where }) => `${what} ${where}`).join(", ");
  const hint = `left over and to be removed by hand: ${named}`;
  return new AoError(first.code, `${first.message}; taking it back was incomplete (teardown_incomplete)`, {
    hint: first.hint === null ? hint : `${first.hint}; ${hint}`,
    details: { ...first.details, left },
    cause: error,
  });
}
