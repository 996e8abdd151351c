import { AoError } from "../../domain/errors.ts";
import type { SessionId } from "../../domain/ids.ts";
import { OLDEST_TMUX } from "./version.ts";

/** A runtime of which nothing may be told or done, and why. */
export interface Unreachable {
  readonly kind: "unknown";
  readonly cause: string;
  /** It was seen, and is not this data directory's. */
  readonly isForeign?: true;
}

/** What to do when tmux is not there or too old. */
export const INSTALL_HINT = `install tmux ${OLDEST_TMUX} or later (apt install tmux, brew install tmux) or add its folder to PATH`;

/** The error for a tmux that did not answer. */
export function unavailable(cause: string, hint?: string): AoError {
  const advice = hint ?? (cause.includes("not installed") ? INSTALL_HINT : undefined);
  return new AoError(
    "runtime_unavailable",
    `tmux cannot be asked: ${cause}`,
    advice === undefined ? {} : { hint: advice },
  );
}

/** The error for a runtime of which nothing may be told or done. */
export function unreachable({ cause, isForeign }: Unreachable): AoError {
  return isForeign === true ? new AoError("runtime_unavailable", cause) : unavailable(cause);
}

/** The error for a runtime that is not there any more. */
export function notRunning(sessionId: SessionId): AoError {
  return new AoError("not_running", `the agent of ${sessionId} is not running`, {
    hint: `ao restore ${sessionId}`,
  });
}
