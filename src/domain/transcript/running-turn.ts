import type { InFlightTurn } from "./in-flight-turn.ts";
import type { TranscriptMessage } from "./message.ts";

/** A turn that runs by what was told, with the name of its marker. */
export type RunningTurn = Pick<InFlightTurn, "id" | "turnId">;

/**
 * The turn that began last and has no end among these messages: `null` when none runs, `undefined` when they say
 * neither. Its marker is named after the place where it began, which is the same whoever tells it. Pure.
 */
export function runningTurn(messages: readonly TranscriptMessage[]): RunningTurn | null | undefined {
  const last = messages.findLast(({ edge }) => edge === "start" || edge === "end");
  if (last === undefined) return undefined;
  const { edge, conversationId, position, turnId } = last;
  return edge === "end" ? null : { id: `${conversationId} ${position}`, turnId };
}
