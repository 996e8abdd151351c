import { asMembers, type Members } from "../json-lines.ts";

/** One line of a conversation's log, as far as it is read (2.1.197). */
export type LogRecord = Members;

/** What a line says that people or the model said. */
export type Part = Members;

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
