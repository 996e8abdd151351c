import type { ActivitySignal } from "./facts.ts";
import type { LaunchId } from "./ids.ts";

/** By what an agent's screen tells what it does. Each is tried on single lines, without their padding. */
export interface ScreenPatterns {
  /** It asks for leave, or nobody knows for what: outranks the others. */
  readonly waiting: readonly RegExp[];
  /** It asks a plain question, which a message may answer. */
  readonly question?: readonly RegExp[];
  /** It works; outranks `ready`, as a prompt may stay visible meanwhile. */
  readonly busy: readonly RegExp[];
  /** It rests and takes a prompt. */
  readonly ready: readonly RegExp[];
}

/** A screen, and when it last changed, Unix milliseconds; `null` where the runtime does not tell. */
interface Screen {
  readonly lines: readonly string[];
  readonly changedAtMs: number | null;
}

/**
 * What an agent does by the patterns that it declares, from its terminal and so of low confidence; `null` when the
 * screen says nothing. Carries the time of the screen, not of the look, so that the same screen says the same again.
 */
export function activityFromScreen(
  patterns: ScreenPatterns,
  { lines, changedAtMs }: Screen,
  launchId: LaunchId,
): ActivitySignal | null {
  const shown = stateOn(patterns, lines);
  if (shown === null || changedAtMs === null) return null;
  return { ...shown, confidence: "valid", source: "terminal", atMs: changedAtMs, launchId };
}

type Shown = Pick<ActivitySignal, "state" | "asks">;

function stateOn(
  { waiting, question = [], busy, ready }: ScreenPatterns,
  lines: readonly string[],
): Shown | null {
  const shows = (patterns: readonly RegExp[]) =>
    lines.some((line) => patterns.some((one) => line.search(one) !== -1));
  if (shows(waiting)) return { state: "waiting_input", asks: "permission" };
  if (shows(question)) return { state: "waiting_input", asks: "question" };
  if (shows(busy)) return { state: "active" };
  return shows(ready) ? { state: "ready" } : null;
}
