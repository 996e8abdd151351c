/** One line of a conversation's log, as far as it is read (2.1.197). */
export type LogRecord = Readonly<Record<string, unknown>>;

/** What a line says that people or the model said. */
export type Part = Readonly<Record<string, unknown>>;

/** The records of a log in order, each with its line, from 1; lines that are none, torn for example, are left out. */
export function recordsIn(content: string): readonly { readonly line: number; readonly record: LogRecord }[] {
  return content.split("\n").flatMap((text, index) => {
    const record = parseRecord(text);
    return record === undefined ? [] : [{ line: index + 1, record }];
  });
}

function parseRecord(line: string): LogRecord | undefined {
  if (line.trim() === "") return undefined;
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? (value as LogRecord) : undefined;
  } catch {
    return undefined;
  }
}

export function asMembers(value: unknown): Part | undefined {
  return typeof value === "object" && value !== null ? (value as Part) : undefined;
}

/** The parts of what a record says; a bare text is one part. */
export function partsOf(record: LogRecord): readonly Part[] {
  const content = asMembers(record["message"])?.["content"];
  if (typeof content === "string") return [{ type: "text", text: content }];
  if (!Array.isArray(content)) return [];
  return content.map(asMembers).filter((part) => part !== undefined);
}

/** The text parts of a record as one. */
export function textOf(record: LogRecord): string {
  const texts = partsOf(record).flatMap(({ type, text }) =>
    type === "text" && typeof text === "string" ? [text] : [],
  );
  return texts.join("\n");
}

export function timeOf({ timestamp }: LogRecord): number | null {
  const ms = typeof timestamp === "string" ? Date.parse(timestamp) : Number.NaN;
  return Number.isFinite(ms) ? ms : null;
}

/** How claude notes an interrupt by a person, in a user's record of its own. */
const INTERRUPTED = "[Request interrupted by user";

export function isInterrupt(record: LogRecord): boolean {
  return record["type"] === "user" && textOf(record).startsWith(INTERRUPTED);
}

/** What a command of claude's own leaves in the log as if a person had said it (2.1.197). */
const LOCAL_COMMAND = /^<(command-name|local-command-[a-z]+)>/;

/** A prompt of a person: no tool result, nothing that claude itself put there, nothing of a sub-agent. */
export function isPrompt(record: LogRecord): boolean {
  if (record["type"] !== "user" || record["isMeta"] === true || record["isSidechain"] === true) return false;
  const origin = asMembers(record["origin"])?.["kind"];
  if (origin !== undefined && origin !== "human") return false;
  const isResult = partsOf(record).some(({ type }) => type === "tool_result");
  const text = textOf(record).trim();
  return !isResult && !isInterrupt(record) && text !== "" && !LOCAL_COMMAND.test(text);
}
