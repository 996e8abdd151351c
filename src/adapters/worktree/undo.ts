import { AoError, errorMessage, isAoError } from "../../domain/errors.ts";
import type { Leftover } from "./leftover.ts";

/** Takes back one thing that was done; it may find it gone. */
export interface UndoStep {
  /** What stays behind when it fails, for example `branch`, and where. */
  readonly what: string;
  readonly where: string;
  readonly run: () => Promise<void>;
}

/**
 * Runs all steps, the last one first, and returns `error` to be thrown: a step that failed is named in
 * `details.left` and hides nothing.
 */
export async function undoAfter(error: unknown, steps: readonly UndoStep[]): Promise<unknown> {
  const left: Leftover[] = [];
  for (const { what, where, run } of [...steps].reverse()) {
    await run().catch((failure: unknown) => left.push({ what, where, why: errorMessage(failure) }));
  }
  if (left.length === 0) return error;
  if (!isAoError(error)) {
    return new AoError("teardown_incomplete", errorMessage(error), { details: { left }, cause: error });
  }
  return new AoError(error.code, error.message, {
    ...(error.hint === null ? {} : { hint: error.hint }),
    details: { ...error.details, left },
    cause: error,
  });
}
