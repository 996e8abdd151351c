import type { RuntimeTarget } from "../../ports/runtime.ts";
import { captureArgs } from "./args.ts";
import type { TmuxDeps } from "./ask-server.ts";
import { ENDING_LINE } from "./config.ts";
import type { OwnedDeps } from "./foreign.ts";
import { locate } from "./locate.ts";
import type { PaneRow } from "./pane-list.ts";
import { notRunning, unavailable, unreachable } from "./unavailable.ts";

/** Reads the screen as `Runtime.capture` says; also that of an agent that has exited. */
export async function captureRuntime(
  deps: OwnedDeps,
  target: RuntimeTarget,
  lines: number,
): Promise<readonly string[]> {
  const { location } = await locate(deps, target);
  if (location.kind === "unknown") throw unreachable(location);
  if (location.kind !== "found") throw notRunning(target.sessionId);
  const { paneId, dead } = location.pane;
  const captured = await captureLines(deps, target.handle.socketPath, { paneId, dead, lines });
  if (captured === undefined) throw notRunning(target.sessionId);
  return captured;
}

/**
 * The last lines of one pane without the blanks after them, or `undefined` when tmux knows no such pane.
 *
 * @throws AoError runtime_unavailable when tmux did not answer, or refused for another reason.
 */
export async function captureLines(
  deps: TmuxDeps,
  socketPath: string,
  { paneId, dead, lines }: Pick<PaneRow, "paneId" | "dead"> & { readonly lines: number },
): Promise<readonly string[] | undefined> {
  if (lines <= 0) return [];
  const answer = await deps.run(socketPath, captureArgs(paneId, lines));
  if (answer.kind === "ok") return lastLines(dead ? wordsOf(answer.stdout) : answer.stdout, lines);
  if (answer.kind !== "refused") throw unavailable(answer.cause);
  if (answer.refusal === "not_found") return undefined;
  throw unavailable(answer.message);
}

/** A dead agent's screen without the line that tmux has written under it. Pure. */
function wordsOf(screen: string): string {
  const text = screen.trimEnd();
  const lastLineAt = text.lastIndexOf("\n") + 1;
  return text.startsWith(ENDING_LINE, lastLineAt) ? text.slice(0, lastLineAt) : text;
}

/** The last `count` lines after the blank ones at the end were dropped, each without its padding. Pure. */
export function lastLines(screen: string, count: number): readonly string[] {
  const text = screen.trimEnd();
  return text === ""
    ? []
    : text
        .split("\n")
        .map((line) => line.trimEnd())
        .slice(-count);
}
