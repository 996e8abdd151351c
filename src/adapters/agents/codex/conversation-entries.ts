import type { ConversationEntry } from "../../../domain/transcript/conversation-entry.ts";
import { asMembers, type Members, recordsIn, timeOf } from "../json-lines.ts";
import { eventIn, type RolloutRecord, type TurnEnd, turnEndIn } from "./rollout-record.ts";

type Said = Pick<ConversationEntry, "role" | "text" | "edge" | "detail">;

function textsIn(content: unknown): string {
  const parts = Array.isArray(content) ? content.map(asMembers) : [];
  return parts.flatMap((part) => (typeof part?.["text"] === "string" ? [part["text"]] : [])).join("\n");
}

/** A program and its arguments; of a shell, the script it was given. */
function commandOf({ command }: Members): string {
  const words = Array.isArray(command) ? command.filter((word) => typeof word === "string") : [];
  return (words[1] === "-lc" || words[1] === "-c" ? words.slice(2) : words).join(" ");
}

function pathsOf({ changes }: Members): string {
  return Object.keys(asMembers(changes) ?? {}).join(" ");
}

type Tool = (item: Members) => readonly [name: string, about: string];

const TOOLS = new Map<unknown, Tool>([
  ["CommandExecution", (item) => ["exec_command", commandOf(item)]],
  ["FileChange", (item) => ["apply_patch", pathsOf(item)]],
  ["McpToolCall", ({ server, tool }) => [`${String(server)}.${String(tool)}`, ""]],
  ["WebSearch", ({ query }) => ["web_search", String(query ?? "")]],
]);

function itemSaid(item: Members, isFirst: boolean): Said | undefined {
  switch (item["type"]) {
    case "UserMessage":
      return { role: "user", text: textsIn(item["content"]), detail: {}, ...(isFirst && { edge: "start" }) };
    case "AgentMessage":
      return { role: "assistant", text: textsIn(item["content"]), detail: {} };
    default:
      return toolSaid(item);
  }
}

function toolSaid(item: Members): Said | undefined {
  const told = TOOLS.get(item["type"])?.(item);
  if (told === undefined) return undefined;
  const [name, path] = told;
  return { role: "tool", text: `${name} ${path}`.trimEnd(), detail: { tool: { name, path } } };
}

function endSaid(end: TurnEnd): Said {
  const error = end.kind === "failed" ? end.message : null;
  const text = error === null ? end.kind : `${end.kind}: ${error}`;
  return { role: "system", text, edge: "end", detail: { turnEnd: { outcome: end.kind, error } } };
}

/** What a log says, read in its order: a prompt begins a turn when it is the first of it. */
function sayings(): (record: RolloutRecord) => Said | undefined {
  let prompted: unknown;
  return (record) => {
    const end = turnEndIn(record);
    if (end !== undefined) return endSaid(end);
    const event = eventIn(record);
    const item = event?.["type"] === "item_completed" ? asMembers(event["item"]) : undefined;
    if (event === undefined || item === undefined) return undefined;
    const isFirst = event["turn_id"] !== prompted;
    if (item["type"] === "UserMessage") prompted = event["turn_id"];
    return itemSaid(item, isFirst);
  };
}

/** What a conversation's log says, in its order; the place of an entry is its line. */
export function entriesIn(content: string): readonly ConversationEntry[] {
  const said = sayings();
  let after: number | null = null;
  return recordsIn(content).flatMap(({ line, record }) => {
    const one = said(record);
    if (one === undefined) return [];
    const entry: ConversationEntry = { ...one, position: line, after, atMs: timeOf(record) };
    after = line;
    return [entry];
  });
}
