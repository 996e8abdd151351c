import type { ConversationEntry } from "../../../domain/transcript/conversation-entry.ts";
import { asMembers, recordsIn, timeOf } from "../json-lines.ts";
import { isInterrupt, isPrompt, type LogRecord, partsOf, textOf } from "./log-record.ts";

type Said = Pick<ConversationEntry, "role" | "text" | "edge" | "detail">;

/** Records come one a line; each may say several things. */
const PARTS_IN_LINE = 100;

function toolUse(part: Readonly<Record<string, unknown>>): Said | undefined {
  const { name, input } = part;
  if (typeof name !== "string") return undefined;
  const given = asMembers(input) ?? {};
  const path = [given["file_path"], given["command"], given["path"]].find((one) => typeof one === "string");
  const about = typeof path === "string" ? path : "";
  return { role: "tool", text: `${name} ${about}`.trimEnd(), detail: { tool: { name, path: about } } };
}

function assistantSaid(record: LogRecord): readonly Said[] {
  const isError = record["isApiErrorMessage"] === true;
  const said = partsOf(record).flatMap((part): readonly Said[] => {
    if (part["type"] === "tool_use") return [toolUse(part) ?? []].flat();
    if (part["type"] !== "text" || typeof part["text"] !== "string" || isError) return [];
    return [{ role: "assistant", text: part["text"], detail: {} }];
  });
  return isError ? [...said, turnEnd("failed", textOf(record))] : [...said, ...ending(record)];
}

function ending(record: LogRecord): readonly Said[] {
  return asMembers(record["message"])?.["stop_reason"] === "end_turn" ? [turnEnd("completed", null)] : [];
}

function turnEnd(outcome: string, error: string | null): Said {
  const text = error === null ? outcome : `${outcome}: ${error}`;
  return { role: "system", text, edge: "end", detail: { turnEnd: { outcome, error } } };
}

function saidIn(record: LogRecord): readonly Said[] {
  if (record["isSidechain"] === true) return [];
  if (isInterrupt(record)) return [turnEnd("interrupted", null)];
  if (isPrompt(record)) return [{ role: "user", text: textOf(record), edge: "start", detail: {} }];
  return record["type"] === "assistant" ? assistantSaid(record) : [];
}

/** The line, from 1, of what stands at a position. */
export function lineOfPosition(position: number): number {
  return Math.floor(position / PARTS_IN_LINE);
}

/** What a conversation's log says, in its order; the place of an entry is its line and its part of that. */
export function entriesIn(content: string): readonly ConversationEntry[] {
  let after: number | null = null;
  return recordsIn(content).flatMap(({ line, record }) =>
    saidIn(record).map((said, part): ConversationEntry => {
      const position = line * PARTS_IN_LINE + part;
      const entry = { ...said, position, after, atMs: timeOf(record) };
      after = position;
      return entry;
    }),
  );
}
