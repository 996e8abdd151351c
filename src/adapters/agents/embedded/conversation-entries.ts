import { readFile } from "node:fs/promises";
import type { ConversationEntry } from "../../../domain/transcript/conversation-entry.ts";
import { conversationFile, isConversationId } from "./conversation-path.ts";
import type { HookName } from "./hook-body.ts";
import type { ConversationRecord } from "./program/conversation-record.ts";

type Fields = Readonly<Record<string, unknown>>;
type Place = Pick<ConversationEntry, "position" | "after" | "atMs">;
type Said = Omit<ConversationEntry, keyof Place>;
type Teller = (fields: Fields) => Said | undefined;

/** A whole number above zero that JSON keeps as it is. */
export function asPosition(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : undefined;
}

function placeIn({ position, after, atMs }: Fields): Place | undefined {
  const own = asPosition(position);
  return own === undefined
    ? undefined
    : { position: own, after: asPosition(after) ?? null, atMs: asPosition(atMs) ?? null };
}

/** `null` stands for a text that was too large to be told. */
function saying(
  role: ConversationEntry["role"],
  text: unknown,
  more: Pick<ConversationEntry, "edge"> & Partial<Pick<ConversationEntry, "detail">> = {},
): Said | undefined {
  return text === null || typeof text === "string" ? { role, text, detail: {}, ...more } : undefined;
}

function toolUse(name: unknown, path: unknown): Said | undefined {
  if (typeof name !== "string" || typeof path !== "string") return undefined;
  return { role: "tool", text: `${name} ${path}`, detail: { tool: { name, path } } };
}

function turnEnd({ outcome, error }: Fields): Said | undefined {
  if (typeof outcome !== "string") return undefined;
  const told = typeof error === "string" ? error : null;
  const text = told === null ? outcome : `${outcome}: ${told}`;
  return { role: "system", text, edge: "end", detail: { turnEnd: { outcome, error: told } } };
}

const IN_HOOK: ReadonlyMap<string, Teller> = new Map<HookName, Teller>([
  ["submit", ({ prompt, answers }) => saying("user", prompt, answers === true ? {} : { edge: "start" })],
  [
    "reply",
    ({ text, question }) =>
      saying("assistant", text, question === true ? { detail: { question: true } } : {}),
  ],
  ["tool", ({ name, path }) => toolUse(name, path)],
  ["turn_end", turnEnd],
]);

const IN_FILE: ReadonlyMap<unknown, Teller> = new Map<ConversationRecord["kind"], Teller>([
  ["prompt", ({ text }) => saying("user", text, { edge: "start" })],
  ["answer", ({ text }) => saying("user", text)],
  ["reply", ({ text }) => saying("assistant", text)],
  ["question", ({ text }) => saying("assistant", text, { detail: { question: true } })],
  ["edit", ({ tool, path }) => toolUse(tool ?? "edit", path)],
  ["turn_end", turnEnd],
]);

/** What a hook of the embedded agent says of its conversation; nothing for one without a place in it. */
export function entriesInHook(event: string, body: Fields): readonly ConversationEntry[] {
  const at = body["place"];
  const place = typeof at === "object" && at !== null ? placeIn(at as Fields) : undefined;
  const said = IN_HOOK.get(event)?.(body);
  return place === undefined || said === undefined ? [] : [{ ...said, ...place }];
}

/** One line of a conversation file; `undefined` when it is none, torn for example. */
export function parseLine(line: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? (value as Fields) : undefined;
  } catch {
    return undefined;
  }
}

/** What a conversation file says, in its order. What a fork took over from another conversation is left out. */
export function entriesInFile(content: string): readonly ConversationEntry[] {
  const lines = content
    .split("\n")
    .map(parseLine)
    .filter((fields) => fields !== undefined);
  const opening = lines.find(({ kind }) => kind === "conversation");
  const from = asPosition(opening?.["position"]) ?? 0;
  return lines.flatMap((fields) => {
    const place = placeIn(fields);
    const said = IN_FILE.get(fields["kind"])?.(fields);
    return place === undefined || said === undefined || place.position <= from ? [] : [{ ...said, ...place }];
  });
}

/** The entries of one conversation; `null` when there is no such file, or it cannot be read. */
export async function readEntries(dir: string, id: string): Promise<readonly ConversationEntry[] | null> {
  if (!isConversationId(id)) return null;
  return readFile(conversationFile(dir, id), "utf8").then(entriesInFile, () => null);
}
