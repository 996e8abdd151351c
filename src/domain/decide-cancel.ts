import { assertNever } from "./assert-never.ts";
import type { CancelAnswer } from "./cancel-answer.ts";
import type { OperationError } from "./operation.ts";

/** An endless cancellation must not keep its turn from being settled: so many tries or so long, whatever is first. */
const MAX_TRIES = 24;
const MAX_AGE_MS = 10 * 60_000;

/** What is known of a cancellation when its agent has answered. */
export interface CancelTry {
  /** An earlier try may have told the agent to stop: then that nothing runs proves nothing. */
  readonly marker: boolean;
  /** Tries so far, this one included. */
  readonly attempt: number;
  /** Since it was asked for; may be negative after a clock was set back. */
  readonly ageMs: number;
}

export type CancelStep =
  /** The turn is canceled. `confirmed`: the agent itself said so. */
  | { readonly kind: "canceled"; readonly confirmed: boolean }
  /** Nobody can know any more how the turn ended. */
  | { readonly kind: "unknown"; readonly why: string }
  /** Later again; `marker` as it is from now on. */
  | { readonly kind: "retry"; readonly marker: boolean; readonly why: string }
  | { readonly kind: "failed"; readonly error: OperationError };

/** What an answer makes of a turn that still goes on (host.md §3). Pure and total. */
export function decideCancel(answer: CancelAnswer, tried: CancelTry): CancelStep {
  const step = stepAfter(answer, tried.marker);
  const isOver = tried.attempt >= MAX_TRIES || tried.ageMs >= MAX_AGE_MS;
  if (step.kind !== "retry" || !isOver) return step;
  return { kind: "unknown", why: `the agent could not be stopped in ${tried.attempt} tries: ${step.why}` };
}

function stepAfter(answer: CancelAnswer, marker: boolean): CancelStep {
  switch (answer.kind) {
    case "confirmed":
      return { kind: "canceled", confirmed: true };
    case "target_absent":
      return marker
        ? { kind: "retry", marker, why: "nothing runs, and an earlier try may have stopped it or not" }
        : { kind: "canceled", confirmed: false };
    case "state_lost":
      return { kind: "unknown", why: answer.detail };
    case "delivery_unconfirmed":
      return { kind: "retry", marker: true, why: answer.detail };
    case "disconnected":
      return { kind: "retry", marker, why: answer.detail };
    case "error":
      return { kind: "failed", error: { code: answer.code, message: answer.message } };
    default:
      return assertNever(answer);
  }
}
