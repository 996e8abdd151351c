import { AoError, errorMessage, saysUnchanged } from "../domain/errors.ts";

/** Something that an undo could not take away. */
export interface Leftover {
  readonly what: string;
  readonly where: string;
  readonly why: string;
}

/** How one finished step is taken back. */
export interface UndoStep {
  /** What stays if it cannot be, for example `worktree`, and where. */
  readonly what: string;
  readonly where: string;
  /** Told instead of these when there is more than one; `why` when it is not the failure of this undo. */
  readonly parts?: readonly (Omit<Leftover, "why"> & Partial<Leftover>)[];
  /** What was done before stands on this; while it cannot be taken back, that is left alone too. */
  readonly guardsEarlier?: boolean;
  /** `cause` is the failure that made the undo necessary. */
  run(cause: unknown): Promise<void> | void;
}

/** What surrounds the taking back of steps. */
export interface UndoHooks {
  /** Whether steps may be taken back at all; when not, they are somebody else's now. */
  readonly mayTakeBack?: (cause: unknown) => boolean;
  readonly onTakenBack?: (cause: unknown, left: readonly Leftover[]) => void;
}

/**
 * Runs `work`, which adds one undo step for each step it finishes. When it throws, the steps are taken
 * back, the last one first, and the same error is thrown; one that could not be taken back is named in
 * `details.left` of an error with the first one's code, or of a teardown_incomplete with that in `details.code`
 * when it is one that promises that nothing was changed.
 */
export async function withUndo<Result>(
  work: (undo: UndoStep[]) => Promise<Result>,
  { mayTakeBack, onTakenBack }: UndoHooks = {},
): Promise<Result> {
  const undo: UndoStep[] = [];
  try {
    return await work(undo);
  } catch (error) {
    if (mayTakeBack?.(error) === false) throw error;
    const left = (await takeBack(undo, error)).flatMap(leftoversOf);
    onTakenBack?.(error, left);
    throw left.length === 0 ? error : withLeftovers(error, left);
  }
}

/** A step that could not be taken back, and why. */
export interface FailedStep {
  readonly step: UndoStep;
  readonly error: unknown;
}

/** Takes steps back, the last one first. Returns those that are still there. */
export async function takeBack(steps: readonly UndoStep[], cause: unknown): Promise<readonly FailedStep[]> {
  const failed: FailedStep[] = [];
  let guard: UndoStep | null = null;
  for (const step of steps.toReversed()) {
    const failure: FailedStep | null = guard === null ? await failureOf(step, cause) : guardedBy(guard, step);
    if (failure === null) continue;
    failed.push(failure);
    if (step.guardsEarlier === true) guard = step;
  }
  return failed;
}

/** How a step that is still there is told. */
export function leftoversOf({ step, error }: FailedStep): readonly Leftover[] {
  const { what, where, parts = [{ what, where }] } = step;
  return parts.map((part) => ({ why: errorMessage(error), ...part }));
}

async function failureOf(step: UndoStep, cause: unknown): Promise<FailedStep | null> {
  try {
    await step.run(cause);
    return null;
  } catch (error) {
    return { step, error };
  }
}

function guardedBy(guard: UndoStep, step: UndoStep): FailedStep {
  return { step, error: new Error(`${guard.what} is still there`) };
}

function withLeftovers(error: unknown, left: readonly Leftover[]): AoError {
  const first = error instanceof AoError ? error : new AoError("internal", errorMessage(error));
  const named = left.map(({ what, where }) => `${what} ${where}`).join(", ");
  const hint = `left over and to be removed by hand: ${named}`;
  const [code, why] = saysUnchanged(first)
    ? (["teardown_incomplete", { code: first.code }] as const)
    : ([first.code, {}] as const);
  return new AoError(code, `${first.message}; taking it back was incomplete (teardown_incomplete)`, {
    hint: first.hint === null ? hint : `${first.hint}; ${hint}`,
    details: { ...first.details, ...why, left },
    cause: error,
  });
}
