/** Where a transcript is kept. */
export interface TranscriptRef {
  /** Absolute path of the folder, without a slash at its end. */
  readonly folder: string;
  /** What the names of its files begin with: a session id. */
  readonly name: string;
}

/** The files of a transcript, as absolute paths. */
export interface TranscriptPaths extends TranscriptRef {
  /** What every record, and the ledger, says of whose it is: the folder's own name and the transcript's. */
  readonly owner: string;
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
    owner: `${folder.slice(folder.lastIndexOf("/") + 1)}/${name}`,
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

const isCopy = (stem: string): boolean => stem.includes("-recovery-");

/** The names of the copies of a transcript among the names of all files of its folder; sorted, each once. */
export function copyNames({ name }: TranscriptRef, files: readonly string[]): readonly string[] {
  const logs = files.filter((file) => file.endsWith(LOG));
  return stemsOf(logs).filter((stem) => stem.startsWith(`${name}-recovery-`));
}

/** The names of the transcripts among the names of all files of a folder, copies left out; sorted, each once. */
export function transcriptNames(files: readonly string[]): readonly string[] {
  return stemsOf(files).filter((stem) => !isCopy(stem));
}

/**
 * All files of a transcript and its copies, in the order in which they may go: the log late, the ledger last,
 * so that what is left of it is whole still, or known to be removed.
 */
export function filesToPrune(ref: TranscriptRef, files: readonly string[]): readonly string[] {
  const copies = stemsOf(files).filter((stem) => stem.startsWith(`${ref.name}-recovery-`));
  return [...copies, ref.name].flatMap((name) => {
    const { salvage, index, checkpoint, log, ledger } = transcriptPaths({ folder: "", name });
    const paths = [salvage, index, checkpoint, log, ledger];
    const names = [...paths.map(draftOf), ...paths].map((path) => path.slice(1));
    return names.filter((file) => files.includes(file));
  });
}

/** What transcripts' files begin with. */
function stemsOf(files: readonly string[]): readonly string[] {
  const ends = [LOG, `${LOG}.damaged`, ".jsonl.meta", ".event-index.json", ".jsonl"];
  const stems = files.flatMap((file) => {
    const name = file.endsWith(".tmp") ? file.slice(0, -".tmp".length) : file;
    const end = ends.find((one) => name.endsWith(one));
    return end === undefined ? [] : [name.slice(0, -end.length)];
  });
  return [...new Set(stems)].sort();
}
