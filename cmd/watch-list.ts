import { setTimeout } from "node:timers/promises";
import type { Ao } from "../src/compose.ts";
import { AoError, errorMessage } from "../src/domain/errors.ts";
import { printable } from "../src/domain/printable.ts";
import type { Invocation } from "./invocation.ts";
import { type ListChoice, listingLines, listingNotes, listingWarnings, takeListing } from "./list-view.ts";

const DRAW_EVERY_MS = 1000;
/** ECMA-48: to the upper left; what is right of the cursor away; what is below it away. */
const HOME = "\u001b[H";
const ERASE_RIGHT = "\u001b[K";
const ERASE_BELOW = "\u001b[J";
/** Of a terminal that does not say how high it is. */
const USUAL_ROWS = 24;

/** @throws AoError usage when there is no terminal to draw on. */
export function requireScreen({ io, json }: Invocation): void {
  if (!json && io.stdout.isTTY) return;
  throw new AoError("usage", "--watch draws on a terminal, and standard output is none", {
    hint: "for programs: ao events --follow, or ao list --json again and again",
  });
}

async function frame(invocation: Invocation, ao: Ao, choice: ListChoice): Promise<readonly string[]> {
  const { paint, io } = invocation;
  const listing = await takeListing(ao, choice);
  return [
    ...(await listingLines(ao, listing, { paint, width: io.stdout.columns })),
    ...listingWarnings(listing).map(printable),
    ...listingNotes(ao, listing),
  ];
}

/** One frame as a terminal takes it: as high as the screen, its last row free. */
export function frameText(lines: readonly string[], rows: number): string {
  const room = Math.max(rows - 2, 1);
  const more = lines.length > room ? [`… ${lines.length - room} more lines`] : [];
  const kept = [...lines.slice(0, room), ...more];
  return `${HOME}${kept.map((line) => `${line}${ERASE_RIGHT}\n`).join("")}${ERASE_BELOW}`;
}

/**
 * Draws the list again and again until nobody reads it or a signal ends the process. What fails is shown in its
 * place, and the next look tries again.
 */
export async function watchList(
  invocation: Invocation,
  choiceOf: (ao: Ao) => Promise<ListChoice>,
): Promise<void> {
  const { stdout } = invocation.io;
  for (let ao: Ao | undefined; stdout.writable; ) {
    let lines: readonly string[];
    try {
      ao = await invocation.open("reading");
      lines = await frame(invocation, ao, await choiceOf(ao));
    } catch (error) {
      lines = [printable(errorMessage(error))];
    }
    // Opened anew each time: a store that was made or replaced meanwhile is seen.
    ao?.close();
    stdout.write(frameText(lines, stdout.terminal?.rows ?? USUAL_ROWS));
    await stdout.drained();
    await setTimeout(DRAW_EVERY_MS);
  }
}
