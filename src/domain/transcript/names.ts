/** Where a transcript is kept. */
export interface TranscriptRef {
  /** Absolute path of the folder, without a slash at its end. */
  readonly folder: string;
  /** What the names of its files begin with: a session id. */
  readonly name: string;
}

/** The files of a transcript, as absolute paths. */
export interface TranscriptPaths extends TranscriptRef {
  /** The event log, the only authority. */
  readonly log: string;
  /** One message a line, for people and tools. */
  readonly checkpoint: string;
  readonly ledger: string;
  readonly index: string;
  /** What repairs have cut off or replaced. */
  readonly salvage: string;
}

const LOG = ".events.jsonl";

export function transcriptPaths({ folder, name }: TranscriptRef): TranscriptPaths {
  const stem = `${folder}/${name}`;
  return {
    folder,
    name,
    log: `${stem}${LOG}`,
    checkpoint: `${stem}.jsonl`,
    ledger: `${stem}.jsonl.meta`,
    index: `${stem}.event-index.json`,
    salvage: `${stem}${LOG}.damaged`,
  };
}

/** Where a file that is to replace `path` is written first. Whatever lies there may be overwritten. */
export function draftOf(path: string): string {
  return `${path}.tmp`;
}

/** The copy that keeps what a writer could not save to a transcript, `hash` telling the writer. */
export function copyRef({ folder, name }: TranscriptRef, hash: string): TranscriptRef {
  return { folder, name: `${name}-recovery-${hash.slice(0, 16)}` };
}

/** The names of the copies of a transcript among the names of all files of its folder; sorted, each once. */
export function copyNames({ name }: TranscriptRef, files: readonly string[]): readonly string[] {
  const start = `${name}-recovery-`;
  const stems = files
    .filter((file) => file.startsWith(start) && file.endsWith(LOG))
    .map((file) => file.slice(0, -LOG.length));
  return [...new Set(stems)].sort();
}
