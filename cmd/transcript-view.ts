import { isoTime } from "../src/domain/iso-time.ts";
import { printable } from "../src/domain/printable.ts";
import type { MessageRange } from "../src/domain/transcript/chain.ts";
import { transcriptPaths } from "../src/domain/transcript/names.ts";
import {
  type TurnInFlightJson,
  turnInFlightJson,
} from "../src/lifecycle/transcripts/summarize-transcript.ts";
import { isSound } from "../src/lifecycle/transcripts/verify-transcripts.ts";
import type { NumberedMessage, TranscriptReport } from "../src/ports/transcript-results.ts";
import type { Color, Paint } from "./color.ts";
import { counted } from "./counted.ts";
import type { Cell } from "./table.ts";

const ROLE_COLORS = {
  user: "cyan",
  assistant: "green",
  tool: "yellow",
  system: "dim",
} as const satisfies Record<string, Color>;

/** Lines of a text, each safe on a terminal. */
function textLines(text: string): readonly string[] {
  return text.split(/\r\n|\r|\n/).map(printable);
}

/** A message for a person: who said it and when, then its text, indented. */
export function messageLines({ index, message }: NumberedMessage, paint: Paint): readonly string[] {
  const { role, text, turnId, atMs, source } = message;
  const about = [isoTime(atMs), turnId, `from ${source}`].flatMap((part) => (part === null ? [] : [part]));
  return [
    `${paint(ROLE_COLORS[role], `#${index + 1} ${role}`)}  ${paint("dim", printable(about.join(" · ")))}`,
    ...textLines(text).map((line) => (line === "" ? "" : `    ${line}`)),
    "",
  ];
}

/** A message for a script: all it has, with its number and the time as ISO 8601. */
export function messageJson({ index, message }: NumberedMessage) {
  const { atMs, ...rest } = message;
  return { number: index + 1, ...rest, at: isoTime(atMs) };
}

/** A message as Markdown. */
export function messageMarkdown({ index, message }: NumberedMessage): string {
  const { role, text, atMs } = message;
  const time = atMs === null ? "" : ` · ${isoTime(atMs)}`;
  return `## ${index + 1}. ${role}${time}\n\n${text}\n\n`;
}

/** Gaps as numbers of messages, from 1, first and last. */
export function gapsJson(gaps: readonly MessageRange[]) {
  return gaps.map(({ first, count }) => ({ first: first + 1, last: first + count }));
}

/** What a report says of one transcript, for a script. */
export function reportJson(report: TranscriptReport) {
  const { ref, health, log, head, savedAtMs, checkpoint, ledger, index } = report;
  const { inFlight, salvageBytes, copies, lost } = report;
  const salvage = salvageBytes === 0 ? null : transcriptPaths(ref).salvage;
  return {
    ...{ name: ref.name, folder: ref.folder, health, isSound: isSound(report) },
    ...{ messages: head.count, digest: head.digest, revision: head.revision, savedAt: isoTime(savedAtMs) },
    log: { bytes: log.bytes, records: log.records, damage: log.damage, gaps: gapsJson(log.gaps) },
    ...{ checkpoint, ledger, index, turnInFlight: turnInFlightJson(inFlight), salvageBytes, copies },
    ...{ salvage, lost },
  };
}

/** A turn in flight, for a person. */
export function turnInFlightText({ turnId, since }: TurnInFlightJson): string {
  return `${turnId === null ? "a turn" : `turn ${turnId}`} in flight since ${since}`;
}

/** What is wrong with a transcript, and what a repair would lose of it. */
function findings(report: TranscriptReport): readonly string[] {
  const { health, log, checkpoint, ledger, index, lost } = report;
  const turn = turnInFlightJson(report.inFlight);
  const missing = log.gaps.reduce((sum, { count }) => sum + count, 0);
  const bytesOf = (kind: string) =>
    log.damage.reduce((sum, one) => sum + (one.kind === kind ? one.bytes : 0), 0);
  const torn = bytesOf("torn_tail");
  const bad = bytesOf("unreadable") + bytesOf("unlinked") + bytesOf("foreign");
  const stale = { checkpoint, ledger, index };
  return [
    ...(torn > 0 ? [`torn end of ${torn} bytes`] : []),
    ...(bad > 0 ? [`${bad} bytes that are no record of it`] : []),
    ...(missing > 0 ? [`${counted(missing, "message")} cannot be read`] : []),
    ...(ledger === "ahead" ? ["a save on record is not in the log"] : []),
    ...(checkpoint === "ahead" ? ["the checkpoint holds it"] : []),
    ...(lost > 0 ? [`${counted(lost, "message")} on record in no file`] : []),
    ...(health === "foreign" ? ["a file of something else is in the place of its own"] : []),
    ...(turn === null ? [] : [turnInFlightText(turn)]),
    ...(health === "stale"
      ? Object.entries(stale).flatMap(([file, state]) => (state === "current" ? [] : [`${file} ${state}`]))
      : []),
  ];
}

/** One row for each report: name, health, messages, bytes, and what is wrong. */
export function reportCells(report: TranscriptReport): readonly Cell[] {
  const { ref, health, head, log } = report;
  const color: Color = isSound(report) ? "green" : "red";
  return [
    ref.name,
    { text: health, color },
    String(head.count),
    String(log.bytes),
    findings(report).join("; "),
  ];
}
