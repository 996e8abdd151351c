import type { SessionId } from "../../../domain/ids.ts";
import { type HeadPosition, SALVAGE_REASONS, type SalvageReason } from "../../../domain/salvage.ts";
import { isRecord, parseHead } from "./layout.ts";

/** What the commit of a salvage says. */
export interface SalvageNote {
  readonly atMs: number;
  readonly reason: SalvageReason;
  readonly head: HeadPosition;
}

const MARK = "ao-salvage: ";

/** The message of a salvage's commit: a line for people, one for `ao`. */
export function salvageMessage(sessionId: SessionId, note: SalvageNote): string {
  return `work of ${sessionId}\n\n${MARK}${JSON.stringify(note)}\n`;
}

/** Parses what `salvageMessage` wrote; `undefined` when it is no such message. */
export function parseSalvageMessage(text: string): SalvageNote | undefined {
  const line = text.split("\n").find((candidate) => candidate.startsWith(MARK));
  try {
    return parseNote(JSON.parse(line?.slice(MARK.length) ?? ""));
  } catch {
    return undefined;
  }
}

function parseNote(value: unknown): SalvageNote | undefined {
  if (!isRecord(value)) return undefined;
  const { atMs } = value;
  const head = parseHead(value["head"]);
  const reason = SALVAGE_REASONS.find((known) => known === value["reason"]);
  if (typeof atMs !== "number" || reason === undefined || head === undefined) return undefined;
  return { atMs, reason, head };
}
