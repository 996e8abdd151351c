import { AoError } from "../domain/errors.ts";
import type { SessionId } from "../domain/ids.ts";
import { isTerminal } from "../domain/lifecycle.ts";
import type { SessionRecord } from "../domain/session.ts";
import { deriveStatus, type Status } from "../domain/status.ts";
import type { ObserveDeps } from "./gather-facts.ts";
import { getSession } from "./list-sessions.ts";

/** Between two looks, in milliseconds. A look costs one call of the runtime. */
const LOOK_EVERY_MS = 200;

export interface WaitOptions {
  /** Any of them ends the wait. */
  readonly statuses: readonly Status[];
  /** How long to wait at most, in milliseconds. */
  readonly timeoutMs: number;
  /** Ends the wait early. */
  readonly signal: AbortSignal;
}

/**
 * The session as soon as it shows one of the wanted statuses. Looks as `getSession` does and writes nothing,
 * so what it sees is no more than any reader sees.
 *
 * @throws AoError session_not_found
 * @throws AoError not_running when it has ended in another status, which only a restore could change.
 * @throws AoError timeout when the time is over.
 * @throws AoError interrupted when the signal is aborted first.
 */
export async function waitForStatus(
  deps: ObserveDeps,
  id: SessionId,
  { statuses, timeoutMs, signal }: WaitOptions,
): Promise<SessionRecord> {
  const wanted = statuses.join(" or ");
  let leftMs = timeoutMs;
  for (;;) {
    const record = await getSession(deps, id, { stored: false });
    const status = deriveStatus(record.lifecycle);
    if (statuses.includes(status)) return record;
    const details = { id, status };
    if (isTerminal(record.lifecycle)) {
      throw new AoError("not_running", `${id} is ${status} and will not become ${wanted}`, { details });
    }
    if (signal.aborted) throw new AoError("interrupted", `stopped waiting for ${id}`, { details });
    if (leftMs <= 0) {
      const message = `${id} is still ${status} and not ${wanted}`;
      throw new AoError("timeout", message, { hint: `it goes on; see ao show ${id}`, details });
    }
    // Counted in sleeps, so that a clock that jumps neither ends the wait nor prolongs it.
    const pauseMs = Math.min(LOOK_EVERY_MS, leftMs);
    await deps.clock.sleep(pauseMs, signal);
    leftMs -= pauseMs;
  }
}
