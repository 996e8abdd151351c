import type { RecordPlace, TurnEnd } from "../hook-body.ts";

/** One line of a conversation file. The file is only ever added to. */
export type ConversationRecord =
  | { readonly kind: "conversation"; readonly id: string; readonly parentId: string | null }
  | { readonly kind: "prompt"; readonly text: string }
  | { readonly kind: "answer"; readonly text: string }
  | { readonly kind: "reply"; readonly text: string }
  | { readonly kind: "question"; readonly text: string }
  /** Written before the edit itself: a path too many is harmless, one too few would miss a commit. */
  | { readonly kind: "edit"; readonly path: string; readonly tool?: string }
  | { readonly kind: "turn_end"; readonly outcome: TurnEnd; readonly error: string | null };

/** What a conversation file says when it is read from start to end. */
export interface ConversationMemory {
  /** Prompts in order, the running one included; answers are none. */
  readonly prompts: readonly string[];
  /** Paths that were edited, relative to the working directory, each once. */
  readonly edits: readonly string[];
  /** A turn began and did not end. */
  readonly turnOpen: boolean;
}

type Fields = Readonly<Record<string, unknown>>;

function parseFields(line: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? (value as Fields) : undefined;
  } catch {
    return undefined;
  }
}

/** Folds one record in; a record that tells nothing about the memory returns the same reference. */
export function remember(memory: ConversationMemory, record: Fields): ConversationMemory {
  const { kind, text, path } = record;
  if (kind === "prompt" && typeof text === "string") {
    return { ...memory, prompts: [...memory.prompts, text], turnOpen: true };
  }
  if (kind === "edit" && typeof path === "string") {
    return { ...memory, edits: [...new Set([...memory.edits, path])] };
  }
  return kind === "turn_end" ? { ...memory, turnOpen: false } : memory;
}

/** The lines of a file that a fork takes over: all whole records but the one that opens the file. */
export function inheritableLines(content: string): readonly string[] {
  return content.split("\n").filter((line) => {
    const kind = parseFields(line)?.["kind"];
    return typeof kind === "string" && kind !== "conversation";
  });
}

/** Reads a whole file. Total: what is no record is passed over. */
export function readMemory(content: string): ConversationMemory {
  return content
    .split("\n")
    .map(parseFields)
    .filter((fields) => fields !== undefined)
    .reduce(remember, { prompts: [], edits: [], turnOpen: false });
}

/** The greatest position of a file, and that of its last record that was said in this very conversation. */
export interface LastPlace {
  readonly position: number;
  readonly said: number | null;
}

const NOWHERE: LastPlace = { position: 0, said: null };

/** What a fork took over lies below the position of the line that opens its file. */
function passBy(last: LastPlace, { kind, position }: Fields): LastPlace {
  if (typeof position !== "number" || position <= last.position) return last;
  return { position, said: kind === "conversation" ? null : position };
}

/** Where a file ends. Total: what has no position is passed over. */
export function readLastPlace(content: string): LastPlace {
  return content
    .split("\n")
    .map(parseFields)
    .filter((fields) => fields !== undefined)
    .reduce(passBy, NOWHERE);
}

/** More records than this are not made durable in a millisecond. */
const PLACES_PER_MS = 1000;

/** Where the next record goes. Positions are times, so that none comes again after a file lost its end. */
export function placeAfter({ position, said }: LastPlace, nowMs: number): RecordPlace {
  return { position: Math.max(position + 1, nowMs * PLACES_PER_MS), after: said, atMs: nowMs };
}
