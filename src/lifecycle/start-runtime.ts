import { AoError, isAoError, saysUnchanged } from "../domain/errors.ts";
import type { LeasedOperation } from "../domain/operation.ts";
import type { RuntimeSpec, StartedRuntime } from "../ports/runtime.ts";
import type { SessionDeps } from "./deps.ts";
import { crossing } from "./operations/crossing.ts";
import { fenceOf } from "./operations/fence-of.ts";
import { namingLeft } from "./steps-left.ts";
import type { UndoStep } from "./undo.ts";
import { undoRuntime } from "./undo-steps.ts";

interface Start {
  readonly held: LeasedOperation;
  readonly undo: UndoStep[];
  readonly boundary: string;
}

/**
 * Starts the agent, unless the operation is another process's by then, and adds to `undo` how it is ended again. When
 * that fails and leaves something (`details.left`) an agent may live: then a step is added that cannot be taken back,
 * so that all that was done before it stays and is named.
 *
 * @throws AoError as `Runtime.create`, and as `onceStarted`.
 */
export function startRuntime(
  deps: Pick<SessionDeps, "runtime" | "boundary" | "operations">,
  spec: RuntimeSpec,
  { held, undo, boundary }: Start,
): Promise<StartedRuntime> {
  const fenced = { ...spec, fence: fenceOf(deps, held) };
  const what = { what: `${deps.runtime.name} session`, where: spec.launchId, guardsEarlier: true };
  let isStarted = false;
  const start = async () => {
    const started = await deps.runtime.create(fenced);
    isStarted = true;
    const { sessionId, launchId } = spec;
    undo.push(undoRuntime(deps, { sessionId, launchId, ...started }));
    return started;
  };
  return namingLeft(undo, what, () => crossing(deps, boundary, start)).catch((error: unknown) => {
    throw isStarted ? startedError(error) : error;
  });
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
    throw startedError(error);
  }
}

function startedError(error: unknown): unknown {
  if (!isAoError(error) || !saysUnchanged(error)) return error;
  const { code, message, hint, details } = error;
  const told = `the agent was started, and a step after that failed: ${message}`;
  return new AoError("agent_start_failed", told, {
    ...(hint !== null && { hint }),
    details: { ...details, code },
    cause: error,
  });
}
