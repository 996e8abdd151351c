import { codeOf, errorMessage } from "../../domain/errors.ts";
import type { SessionId } from "../../domain/ids.ts";
import { isTerminal } from "../../domain/lifecycle.ts";
import type { SessionRecord } from "../../domain/session.ts";
import { type ConfiguredDeps, restoreConfigured } from "../configured-sessions.ts";
import { observeSessions } from "../observe/observe-sessions.ts";
import type { RestoreResult } from "./restore-result.ts";

/** So many failures in a row are one cause, which the rest would only meet again. */
const MAX_FAILURES_IN_A_ROW = 3;

export interface RestoreLostOptions {
  /** Between two restores, in milliseconds, so that agents do not all start at once. */
  readonly spacingMs: number;
  /** Stops before the next session. */
  readonly signal: AbortSignal;
  readonly onStep?: (id: SessionId) => void;
}

interface FailedRestore {
  readonly id: SessionId;
  readonly code: string;
  readonly message: string;
}

type Outcome = RestoreResult | FailedRestore;

export interface RestoreLostResult {
  readonly restored: readonly RestoreResult[];
  readonly failed: readonly FailedRestore[];
  /** Not tried: after three failures in a row, or a signal. */
  readonly left: readonly SessionId[];
}

/** Whether a session ended because its runtime was lost, as by a reboot, and its files are still there. */
function isLost({ lifecycle, metadata }: SessionRecord): boolean {
  return (
    isTerminal(lifecycle) &&
    lifecycle.session.reason === "runtime_lost" &&
    metadata.workspaceFreedAtMs === null
  );
}

/**
 * Looks at all sessions as `observeSessions` does, then restores every one whose runtime was lost, oldest
 * first, each as `restoreConfigured`. One that cannot be restored is told and stays as it was.
 */
export async function restoreLost(
  ao: ConfiguredDeps,
  { spacingMs, signal, onStep }: RestoreLostOptions,
): Promise<RestoreLostResult> {
  const { sessions } = await observeSessions(ao.deps);
  const left = sessions.filter(isLost).map(({ id }) => id);
  const outcomes: Outcome[] = [];
  while (left.length > 0 && !signal.aborted && !isHopeless(outcomes)) {
    if (outcomes.length > 0) await ao.deps.clock.sleep(spacingMs, signal);
    const id = signal.aborted ? undefined : left.shift();
    if (id === undefined) break;
    onStep?.(id);
    outcomes.push(await tryRestore(ao, id));
  }
  return {
    restored: outcomes.flatMap((outcome) => ("record" in outcome ? [outcome] : [])),
    failed: outcomes.flatMap((outcome) => ("record" in outcome ? [] : [outcome])),
    left,
  };
}

function isHopeless(outcomes: readonly Outcome[]): boolean {
  const latest = outcomes.slice(-MAX_FAILURES_IN_A_ROW);
  return latest.length === MAX_FAILURES_IN_A_ROW && latest.every((outcome) => "code" in outcome);
}

async function tryRestore(ao: ConfiguredDeps, id: SessionId): Promise<Outcome> {
  try {
    return await restoreConfigured(ao, id, { fresh: false });
  } catch (error) {
    const code = codeOf(error);
    return { id, code, message: errorMessage(error) };
  }
}
