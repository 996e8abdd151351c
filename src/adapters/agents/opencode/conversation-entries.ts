import type { ConversationEntry } from "../../../domain/transcript/conversation-entry.ts";
import { asMembers, type Members } from "./members.ts";
import { endPosition, positionOf } from "./position.ts";
import type { StoredMessage, StoredRow } from "./read-database.ts";

type Entry = Omit<ConversationEntry, "after">;

/** What stands in a conversation, in its order. */
export function entriesIn(messages: readonly StoredMessage[]): readonly ConversationEntry[] {
  let after: number | null = null;
  return messages.flatMap(entriesOf).map((entry) => {
    const placed = { ...entry, after };
    after = entry.position;
    return placed;
  });
}

function entriesOf(message: StoredMessage): readonly Entry[] {
  return message.data["role"] === "user" ? prompted(message) : answered(message);
}

/** A prompt is what a person wrote, without what opencode read for it. */
function prompted({ parts, createdMs }: StoredMessage): readonly Entry[] {
  const written = parts.filter(({ data }) => data["synthetic"] !== true && data["ignored"] !== true);
  const texts = written.filter(isText);
  const [first] = texts;
  if (first === undefined) return [];
  const text = texts.map(({ data }) => data["text"]).join("\n");
  return [{ position: positionOf(first), role: "user", text, edge: "start", atMs: createdMs, detail: {} }];
}

function answered(message: StoredMessage): readonly Entry[] {
  const said = message.parts.flatMap((part): readonly Entry[] => {
    const place = { position: positionOf(part), atMs: part.createdMs };
    if (isText(part)) return [{ ...place, role: "assistant", text: String(part.data["text"]), detail: {} }];
    const tool = part.data["type"] === "tool" ? toolUse(part.data) : undefined;
    return tool === undefined ? [] : [{ ...place, ...tool }];
  });
  const end = endOf(message.data);
  return end === undefined ? said : [...said, { ...end, position: endPosition(message) }];
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

/** A step that ended with calls of tools is followed by another one. */
function endOf(data: Members): Omit<Entry, "position"> | undefined {
  const error = asMembers(data["error"]);
  const { completed } = asMembers(data["time"]) ?? {};
  const atMs = typeof completed === "number" ? completed : null;
  if (error !== undefined) return { ...ending(error), atMs };
  const { finish } = data;
  if (atMs === null || finish === "tool-calls" || finish === "unknown" || finish === undefined)
    return undefined;
  return { ...turnEnd("completed", null), atMs };
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
