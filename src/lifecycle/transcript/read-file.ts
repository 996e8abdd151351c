import type { OpenFile, TranscriptFiles } from "../../ports/transcript-files.ts";
import { concat, decodeAnything, LINE_FEED, lineEnd } from "./bytes.ts";

/** Bytes that are read at once. */
const CHUNK_BYTES = 256 * 1024;
/** More than any sidecar has that `ao` wrote. */
const MAX_SIDECAR_BYTES = 64 * 1024;

/** One line of a file, without its line feed. */
export interface Line {
  readonly kind: "line";
  /** Where it begins, in bytes. */
  readonly offset: number;
  readonly bytes: Uint8Array;
  /** False for what stands behind the last line feed. */
  readonly isTerminated: boolean;
}

/** A line that is longer than what is read; nothing comes after it. */
export interface TooLong {
  readonly kind: "too_long";
  readonly offset: number;
}

/** Opens a file for `work` and closes it, whatever happens; `undefined` when there is none. */
export async function withFile<Result>(
  files: TranscriptFiles,
  path: string,
  work: (file: OpenFile) => Promise<Result>,
): Promise<Result | undefined> {
  const file = await files.open(path);
  if (file === undefined) return undefined;
  try {
    return await work(file);
  } finally {
    await file.close();
  }
}

/** The text of a small file; `undefined` when there is none. */
export function readSidecar(files: TranscriptFiles, path: string): Promise<string | undefined> {
  return withFile(files, path, async (file) => decodeAnything(await file.read(0, MAX_SIDECAR_BYTES)));
}

/** The size of a file in bytes; 0 when there is none. */
export async function sizeOf(files: TranscriptFiles, path: string): Promise<number> {
  return (await withFile(files, path, async ({ sizeBytes }) => sizeBytes)) ?? 0;
}

/** The bytes from `from` to `to`, as they can be had. */
export async function* readChunks(file: OpenFile, from: number, to: number): AsyncGenerator<Uint8Array> {
  for (let at = from; at < to; ) {
    const chunk = await file.read(at, Math.min(CHUNK_BYTES, to - at));
    if (chunk.length === 0) return;
    yield chunk;
    at += chunk.length;
  }
}

/** The bytes from `from` to `to` at once; fewer at the end of the file. */
export async function readRange(file: OpenFile, from: number, to: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const chunk of readChunks(file, from, to)) parts.push(chunk);
  return concat(parts);
}

/**
 * The lines before a byte that follows a line feed, the last one first, without their line feeds. Ends early before a
 * line that is longer than what is read.
 */
export async function* linesBefore(
  file: OpenFile,
  end: number,
  maxLineBytes: number,
): AsyncGenerator<Uint8Array> {
  let rest: Uint8Array = new Uint8Array();
  for (let at = end; at > 0 && rest.length <= maxLineBytes; ) {
    const from = Math.max(0, at - CHUNK_BYTES);
    rest = concat([await readRange(file, from, at), rest]);
    at = from;
    for (let start = lineStart(rest); start > 0; start = lineStart(rest)) {
      yield rest.subarray(start, -1);
      rest = rest.subarray(0, start);
    }
    if (at === 0) yield rest.subarray(0, -1);
  }
}

/** Where the last line of bytes that end with a line feed begins; 0 also when that is not among them. */
function lineStart(bytes: Uint8Array): number {
  return bytes.length < 2 ? 0 : bytes.lastIndexOf(LINE_FEED, bytes.length - 2) + 1;
}

/** The lines of a file as it was when it was opened, split on 0x0A alone. */
export async function* readLines(file: OpenFile, maxLineBytes: number): AsyncGenerator<Line | TooLong> {
  let parts: Uint8Array[] = [];
  let offset = 0;
  let pending = 0;
  for await (const chunk of readChunks(file, 0, file.sizeBytes)) {
    let start = 0;
    for (let end = lineEnd(chunk, 0); end !== -1; end = lineEnd(chunk, start)) {
      const bytes = concat([...parts, chunk.subarray(start, end)]);
      if (bytes.length > maxLineBytes) return yield { kind: "too_long", offset };
      yield { kind: "line", offset, bytes, isTerminated: true };
      offset += bytes.length + 1;
      start = end + 1;
      parts = [];
      pending = 0;
    }
    parts.push(chunk.subarray(start));
    pending += chunk.length - start;
    if (pending > maxLineBytes) return yield { kind: "too_long", offset };
  }
  if (pending > 0) yield { kind: "line", offset, bytes: concat(parts), isTerminated: false };
}
