import type { ConversationEntry } from "../../../domain/transcript/conversation-entry.ts";
import { asMembers, type Members } from "../json-lines.ts";
import { endPosition, positionOf } from "./position.ts";
import type { StoredMessage, StoredRow } from "./read-database.ts";

type Entry = Omit<ConversationEntry, "after">;
type Messages = readonly StoredMessage[];

/** What stands in a conversation, in its order. */
export function entriesIn(messages: Messages): readonly ConversationEntry[] {
  const entries = messages.flatMap((message) => entriesOf(message, messages));
  const sorted = entries.toSorted((one, other) => one.position - other.position);
  return sorted.map((entry, index) => ({ ...entry, after: sorted[index - 1]?.position ?? null }));
}

function entriesOf(message: StoredMessage, all: Messages): readonly Entry[] {
  if (message.data["role"] === "user") return prompted(message, all);
  const end = endOf(message, all);
  const said = answered(message);
  return end === undefined ? said : [...said, { ...end, position: endPosition(message) }];
}

/**
 * A prompt is what a person wrote, without what opencode read for it. One that came during an answer begins no turn.
 */
function prompted(message: StoredMessage, all: Messages): readonly Entry[] {
  const { parts, createdMs } = message;
  const written = parts.filter(({ data }) => data["synthetic"] !== true && data["ignored"] !== true);
  const texts = written.filter(isText);
  const [first] = texts;
  if (first === undefined) return [];
  const text = texts.map(({ data }) => data["text"]).join("\n");
  const edge = all.some((answer) => cameDuring(message, answer)) ? {} : ({ edge: "start" } as const);
  return [{ position: positionOf(first), role: "user", text, ...edge, atMs: createdMs, detail: {} }];
}

function cameDuring({ createdMs, data: prompt }: StoredMessage, answer: StoredMessage): boolean {
  if (prompt["role"] !== "user" || answer.data["role"] !== "assistant") return false;
  const completedMs = completedMsOf(answer);
  return answer.createdMs < createdMs && completedMs !== null && createdMs < completedMs;
}

function completedMsOf({ data }: StoredMessage): number | null {
  const { completed } = asMembers(data["time"]) ?? {};
  return typeof completed === "number" ? completed : null;
}

function answered({ parts }: StoredMessage): readonly Entry[] {
  return parts.flatMap((part): readonly Entry[] => {
    const place = { position: positionOf(part), atMs: part.createdMs };
    if (isText(part)) return [{ ...place, role: "assistant", text: String(part.data["text"]), detail: {} }];
    const tool = part.data["type"] === "tool" ? toolUse(part.data) : undefined;
    return tool === undefined ? [] : [{ ...place, ...tool }];
  });
}

function isText({ data }: StoredRow): boolean {
  return data["type"] === "text" && typeof data["text"] === "string";
}

function toolUse({ tool: name, state }: Members): Pick<Entry, "role" | "text" | "detail"> | undefined {
  if (typeof name !== "string") return undefined;
  const given = asMembers(asMembers(state)?.["input"]) ?? {};
  const found = [given["filePath"], given["command"], given["path"]].find((one) => typeof one === "string");
  const path = typeof found === "string" ? found : "";
  return { role: "tool", text: `${name} ${path}`.trimEnd(), detail: { tool: { name, path } } };
}

/** How opencode notes a no of a person that ends the turn (1.18.33). */
const REFUSED = "The user rejected permission to use this specific tool call.";

/** The end of the turn that an answer ends; a step that called tools, or met another prompt, is followed by another. */
function endOf(answer: StoredMessage, all: Messages): Omit<Entry, "position"> | undefined {
  const error = asMembers(answer.data["error"]);
  const atMs = completedMsOf(answer);
  if (error !== undefined) return { ...ending(error), atMs };
  if (atMs === null || all.some((prompt) => cameDuring(prompt, answer))) return undefined;
  const { finish } = answer.data;
  if (finish === "tool-calls") {
    return isRefused(answer, all) ? { ...turnEnd("interrupted", null), atMs } : undefined;
  }
  return finish === undefined || finish === "unknown" ? undefined : { ...turnEnd("completed", null), atMs };
}

function isRefused({ id, data, parts }: StoredMessage, all: Messages): boolean {
  const isLast = all.every((one) => one.data["parentID"] !== data["parentID"] || one.id <= id);
  return isLast && parts.some((part) => asMembers(part.data["state"])?.["error"] === REFUSED);
}

function ending({ name, data }: Members): Omit<Entry, "position" | "atMs"> {
  if (name === "MessageAbortedError") return turnEnd("interrupted", null);
  const { message } = asMembers(data) ?? {};
  return turnEnd("failed", typeof message === "string" ? message : String(name));
}

function turnEnd(outcome: string, error: string | null): Omit<Entry, "position" | "atMs"> {
  const text = error === null ? outcome : `${outcome}: ${error}`;
  return { role: "system", text, edge: "end", detail: { turnEnd: { outcome, error } } };
}
