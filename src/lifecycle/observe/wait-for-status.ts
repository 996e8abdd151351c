import { AoError } from "../../domain/errors.ts";
import type { SessionId } from "../../domain/ids.ts";
import { isTerminal } from "../../domain/lifecycle.ts";
import type { SessionRecord } from "../../domain/session.ts";
import { deriveStatus, type Status } from "../../domain/status.ts";
import type { Clock } from "../../ports/clock.ts";
import type { ObserveDeps } from "./gather-facts.ts";
import { getSession } from "./list-sessions.ts";

/** Between two looks, in milliseconds. A look costs one call of the runtime. */
const LOOK_EVERY_MS = 200;

export interface WaitOptions {
  /** Any of them ends the wait. */
  readonly statuses: readonly Status[];
  /** How long to wait at most, in milliseconds; a look that is under way then is the last. */
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
  const done = new AbortController();
  // One sleep over all, which no jump of the clock shortens or prolongs, however long the looks take.
  const time = startTime(deps.clock, timeoutMs, AbortSignal.any([signal, done.signal]));
  try {
    for (;;) {
      const record = await getSession(deps, id, { stored: false });
      if (hasCome(record, statuses)) return record;
      if (signal.aborted) throw interrupted(record);
      if (time.isOver()) throw timedOut(record, statuses);
      await time.pause(LOOK_EVERY_MS);
    }
  } finally {
    done.abort();
  }
}

/** Time that runs out; it ends early when `signal` is aborted. */
function startTime({ sleep }: Clock, timeoutMs: number, signal: AbortSignal) {
  let isOver = timeoutMs <= 0;
  const end = sleep(timeoutMs, signal).then(() => {
    isOver = true;
  });
  return {
    isOver: () => isOver,
    pause: (ms: number): Promise<void> => Promise.race([end, sleep(ms, signal)]),
  };
}

/** @throws AoError not_running when it has ended in another status. */
function hasCome({ id, lifecycle }: SessionRecord, statuses: readonly Status[]): boolean {
  const status = deriveStatus(lifecycle);
  if (statuses.includes(status)) return true;
  if (!isTerminal(lifecycle)) return false;
  const message = `${id} is ${status} and will not become ${statuses.join(" or ")}`;
  throw new AoError("not_running", message, { hint: `ao restore ${id}`, details: { id, status } });
}

function timedOut(record: SessionRecord, statuses: readonly Status[]): AoError {
  const { id, lifecycle } = record;
  const status = deriveStatus(lifecycle);
  return new AoError("timeout", `${id} did not become ${statuses.join(" or ")} in time: it is ${status}`, {
    hint:
      status === "needs_input"
        ? `it waits for an answer: ao output ${id}, then ao send ${id}; or wait for needs_input, too`
        : `only the wait is over, not the session; see ao show ${id}`,
    details: { id, status },
  });
}

function interrupted({ id, lifecycle }: SessionRecord): AoError {
  const details = { id, status: deriveStatus(lifecycle) };
  return new AoError("interrupted", `stopped waiting for ${id}`, { details });
}
