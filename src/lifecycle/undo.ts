import { AoError, errorMessage, saysUnchanged } from "../domain/errors.ts";
import { type Leftover, leftoverAdvice } from "./leftover.ts";
import { isRefusal } from "./workspace-refusal.ts";

/** How one finished step is taken back. */
export interface UndoStep {
  /** What stays if it cannot be, for example `worktree`, and where. */
  readonly what: string;
  readonly where: string;
  /** What stays after that failure of `run`; the step itself when absent. */
  readonly parts?: (error: unknown) => readonly Leftover[];
  /** What stays on purpose after `run` went well; nothing when absent. */
  readonly kept?: () => readonly Leftover[];
  /** What was done before stands on this; while it cannot be taken back, that is left alone too. */
  readonly guardsEarlier?: boolean;
  /** `cause` is the failure that made the undo necessary. */
  run(cause: unknown): Promise<void> | void;
}

/** What surrounds the taking back of steps. */
export interface UndoHooks {
  /** Whether steps may be taken back at all; when not, they are somebody else's now. */
  readonly mayTakeBack?: (cause: unknown) => boolean;
  readonly onTakenBack?: (cause: unknown, taken: TakenBack) => void;
}

/**
 * Runs `work`, which adds one undo step for each step it finishes. When it throws, the steps are taken
 * back, the last one first, and the same error is thrown; what stays is named in `details.left` of an error with
 * the first one's code, or of a teardown_incomplete with that in `details.code` when it is one that promises that
 * nothing was changed.
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
    const taken = await takeBack(undo, error);
    onTakenBack?.(error, taken);
    throw taken.left.length === 0 ? error : withLeftovers(error, taken);
  }
}

/** A step that could not be taken back, and why. */
export interface FailedStep {
  readonly step: UndoStep;
  readonly error: unknown;
}

export interface TakenBack {
  readonly failed: readonly FailedStep[];
  /** Everything that is still there. */
  readonly left: readonly Leftover[];
}

/** A failure that is no refusal because of work: tried again later, the step may well be taken back. */
export function passingFailure({ failed }: Pick<TakenBack, "failed">): FailedStep | undefined {
  return failed.find(({ error }) => !isRefusal(error));
}

/** Takes steps back, the last one first. */
export async function takeBack(steps: readonly UndoStep[], cause: unknown): Promise<TakenBack> {
  const failed: FailedStep[] = [];
  const left: Leftover[] = [];
  let guard: UndoStep | null = null;
  for (const step of steps.toReversed()) {
    const failure: FailedStep | null = guard === null ? await failureOf(step, cause) : guardedBy(guard, step);
    left.push(...(failure === null ? (step.kept?.() ?? []) : leftoversOf(failure)));
    if (failure === null) continue;
    failed.push(failure);
    if (step.guardsEarlier === true) guard = step;
  }
  return { failed, left };
}

function leftoversOf({ step, error }: FailedStep): readonly Leftover[] {
  const { what, where, parts } = step;
  return parts?.(error) ?? [{ what, where, why: errorMessage(error) }];
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

function withLeftovers(error: unknown, { failed, left }: TakenBack): AoError {
  const first = error instanceof AoError ? error : new AoError("internal", errorMessage(error));
  const { kept, hints } = leftoverAdvice(left);
  const incomplete = failed.length === 0 ? [] : ["taking it back was incomplete (teardown_incomplete)"];
  const [code, why] = saysUnchanged(first)
    ? (["teardown_incomplete", { code: first.code }] as const)
    : ([first.code, {}] as const);
  return new AoError(code, [first.message, ...incomplete, ...kept].join("; "), {
    hint: [...(first.hint === null ? [] : [first.hint]), ...hints].join("; "),
    details: { ...first.details, ...why, left },
    cause: error,
  });
}
