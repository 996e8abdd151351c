import { AoError, isAoError, saysUnchanged } from "../domain/errors.ts";
import type { LeasedOperation } from "../domain/operation.ts";
import type { RuntimeSpec, StartedRuntime } from "../ports/runtime.ts";
import type { SessionDeps } from "./deps.ts";
import { crossing } from "./operations/crossing.ts";
import { fenceOf } from "./operations/fence-of.ts";
import { namingLeft } from "./steps-left.ts";
import type { UndoStep } from "./undo.ts";

interface Start {
  readonly held: LeasedOperation;
  readonly undo: UndoStep[];
  readonly boundary: string;
}

/**
 * Starts the agent, unless the operation is another process's by then. When that fails and leaves something (`details.left`) an agent may live: then a step is
 * added to `undo` that cannot be taken back, so that all that was done before it stays and is named.
 *
 * @throws AoError as `Runtime.create`.
 */
export function startRuntime(
  deps: Pick<SessionDeps, "runtime" | "boundary" | "operations">,
  spec: RuntimeSpec,
  { held, undo, boundary }: Start,
): Promise<StartedRuntime> {
  const fenced = { ...spec, fence: fenceOf(deps, held) };
  const started = { what: `${deps.runtime.name} session`, where: spec.launchId, guardsEarlier: true };
  return namingLeft(undo, started, () => crossing(deps, boundary, () => deps.runtime.create(fenced)));
}

/**
 * Runs what comes once the agent has started, and may have done anything: it ends with no error that promises that
 * nothing was changed.
 *
 * @throws AoError agent_start_failed in place of such a one, with that in `details.code`; else as `work`.
 */
export async function onceStarted<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!isAoError(error) || !saysUnchanged(error)) throw error;
    const { code, message, hint, details } = error;
    throw new AoError(
      "agent_start_failed",
      `the agent was started, and a step after that failed: ${message}`,
      {
        ...(hint !== null && { hint }),
        details: { ...details, code },
        cause: error,
      },
    );
  }
}
