/**
 * The reference model: what transcripts do, in a few lines and without a disk. A message is its text, and no
 * text is used twice.
 */
export interface Model {
  /** What is on disk; `null` before the first save. */
  readonly main: readonly string[] | null;
  /** Whether it was ever replaced after the first save. */
  readonly wasRewritten: boolean;
  readonly writers: readonly ModelWriter[];
}

export interface ModelWriter {
  /** What it last read or saved; `null` when it never did. */
  readonly base: readonly string[] | null;
  readonly messages: readonly string[];
}

export type ModelSave = "append" | "rewrite" | "compact";

export type ModelResult = "saved" | "unchanged" | "stale_prefix" | "diverged";

export function isPrefixOf(part: readonly string[], whole: readonly string[]): boolean {
  return part.length <= whole.length && part.every((text, at) => text === whole[at]);
}

export function isSame(one: readonly string[] | null, other: readonly string[] | null): boolean {
  return one === null || other === null
    ? one === other
    : one.length === other.length && isPrefixOf(one, other);
}

/** How a save of a writer ends. */
export function expectedResult(model: Model, writer: ModelWriter, save: ModelSave): ModelResult {
  const { main } = model;
  const { messages } = writer;
  if (main === null) return messages.length === 0 ? "unchanged" : "saved";
  if (isSame(messages, main)) return save === "compact" ? "saved" : "unchanged";
  if (isAccepted(model, writer, save)) return "saved";
  return isPrefixOf(messages, main) ? "stale_prefix" : "diverged";
}

/** Only what continues the disk is appended, and only who knows all of it replaces it. */
function isAccepted(model: Model, { base, messages }: ModelWriter, save: ModelSave): boolean {
  const main = model.main ?? [];
  if (save !== "append") return isSame(base, main);
  const mayExtend = base === null ? !model.wasRewritten : base.length <= main.length;
  return mayExtend && isPrefixOf(main, messages);
}

/** What is on disk, and what the writer stands on, after a save that ended like this. */
export function afterSave(model: Model, at: number, save: ModelSave, result: ModelResult): Model {
  const writer = model.writers[at];
  if (writer === undefined || result === "stale_prefix" || result === "diverged") return model;
  const isWritten = result === "saved" && (model.main !== null || writer.messages.length > 0);
  const main = isWritten ? writer.messages : model.main;
  const isRewrite = isWritten && model.main !== null && save !== "append";
  const wasRewritten = model.wasRewritten || isRewrite;
  return { main, wasRewritten, writers: model.writers.with(at, { ...writer, base: writer.messages }) };
}
