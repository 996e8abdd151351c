import { isAoError } from "../domain/errors.ts";
import type { Leftover } from "./leftover.ts";
import type { UndoStep } from "./undo.ts";

/** What is being made, and whether what was done before has to stay while it cannot be taken back. */
type Made = Pick<UndoStep, "what" | "where" | "guardsEarlier">;

/**
 * Runs `make`. When that fails and tells of something that it left (`details.left`), a step that cannot be taken
 * back is added to `undo`: what is left is named then, and no error promises that nothing was changed.
 */
export async function namingLeft<Result>(
  undo: UndoStep[],
  made: Made,
  make: () => Promise<Result>,
): Promise<Result> {
  try {
    return await make();
  } catch (error) {
    undo.push(...stepsLeftBy(error, made));
    throw error;
  }
}

function stepsLeftBy(error: unknown, made: Made): readonly UndoStep[] {
  const left = isAoError(error) ? error.details["left"] : undefined;
  if (!Array.isArray(left) || left.length === 0) return [];
  const { what, where } = made;
  const parts = left.map((item: unknown) => (isLeftover(item) ? item : { what, where, why: String(item) }));
  return [{ ...made, parts: () => parts, run: () => Promise.reject(error) }];
}

function isLeftover(item: unknown): item is Leftover {
  if (typeof item !== "object" || item === null) return false;
  return ["what", "where", "why"].every((name) => typeof Reflect.get(item, name) === "string");
}
