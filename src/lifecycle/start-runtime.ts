import type { RuntimeSpec, StartedRuntime } from "../ports/runtime.ts";
import type { SessionDeps } from "./deps.ts";
import { crossing } from "./operations/crossing.ts";
import { namingLeft } from "./steps-left.ts";
import type { UndoStep } from "./undo.ts";

/**
 * Starts the agent. When that fails and leaves something (`details.left`) an agent may live: then a step is
 * added to `undo` that cannot be taken back, so that all that was done before it stays and is named.
 *
 * @throws AoError as `Runtime.create`.
 */
export function startRuntime(
  deps: Pick<SessionDeps, "runtime" | "boundary">,
  spec: RuntimeSpec,
  { undo, boundary }: { readonly undo: UndoStep[]; readonly boundary: string },
): Promise<StartedRuntime> {
  const started = { what: `${deps.runtime.name} session`, where: spec.launchId, guardsEarlier: true };
  return namingLeft(undo, started, () => crossing(deps, boundary, () => deps.runtime.create(spec)));
}
