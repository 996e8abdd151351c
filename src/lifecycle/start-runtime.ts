import { isAoError } from "../domain/errors.ts";
import type { RuntimeSpec, StartedRuntime } from "../ports/runtime.ts";
import type { SessionDeps } from "./deps.ts";
import type { Leftover } from "./leftover.ts";
import { crossing } from "./operations/crossing.ts";
import type { UndoStep } from "./undo.ts";

/**
 * Starts the agent. When that fails and leaves something (`details.left`) an agent may live: then a step is
 * added to `undo` that cannot be taken back, so that all that was done before it stays and is named.
 *
 * @throws AoError as `Runtime.create`.
 */
export async function startRuntime(
  deps: Pick<SessionDeps, "runtime" | "boundary">,
  spec: RuntimeSpec,
  { undo, boundary }: { readonly undo: UndoStep[]; readonly boundary: string },
): Promise<StartedRuntime> {
  try {
    return await crossing(deps, boundary, () => deps.runtime.create(spec));
  } catch (error) {
    undo.push(...stepsLeftBy(error, { what: `${deps.runtime.name} session`, where: spec.launchId }));
    throw error;
  }
}

function stepsLeftBy(error: unknown, it: Pick<UndoStep, "what" | "where">): readonly UndoStep[] {
  const left = isAoError(error) ? error.details["left"] : undefined;
  if (!Array.isArray(left) || left.length === 0) return [];
  const parts = left.map((item: unknown) => (isLeftover(item) ? item : { ...it, why: String(item) }));
  return [{ ...it, parts: () => parts, guardsEarlier: true, run: () => Promise.reject(error) }];
}

function isLeftover(item: unknown): item is Leftover {
  if (typeof item !== "object" || item === null) return false;
  return ["what", "where", "why"].every((name) => typeof Reflect.get(item, name) === "string");
}
