import type { Plumbing } from "./plumbing.ts";

/** One object of a repository while it is read. */
export interface ReadObject {
  readonly oid: string;
  /** `blob`, `tree`, `commit` or `tag`. */
  readonly type: string;
  readonly size: number;
  /** Its content, once: to be taken whole, or left alone. */
  readonly chunks: AsyncIterable<Buffer>;
}

/** Is given each object in turn. */
export type OnObject = (object: ReadObject) => Promise<void>;

/**
 * Reads objects, in this order, with one git.
 *
 * @throws AoError git_failed when one of them is missing or damaged.
 */
export async function readObjects(
  plumbing: Plumbing,
  oids: readonly string[],
  onObject: OnObject,
): Promise<void> {
  if (oids.length === 0) return;
  const git = plumbing.start(["cat-file", "--batch", "--buffer"], `${oids.join("\n")}\n`);
  const reader = byteReader(git.output);
  let read = 0;
  try {
    while (read < oids.length) {
      const [, oid, type, size] = /^([0-9a-f]+) ([a-z]+) ([0-9]+)$/.exec(await reader.line()) ?? [];
      if (oid === undefined || type === undefined) break;
      await readOne(reader, { oid, type, size: Number(size) }, onObject);
      read += 1;
    }
    await reader.drain();
    await git.done("read what is kept");
  } finally {
    await reader.leave();
  }
  const missing = oids[read];
  if (missing !== undefined) await plumbing.tell("read what is kept", ["cat-file", "-e", missing]);
  if (missing !== undefined) throw new Error(`git has no object ${missing}`);
}

async function readOne(
  reader: ByteReader,
  header: Omit<ReadObject, "chunks">,
  onObject: OnObject,
): Promise<void> {
  const chunks = reader.take(header.size);
  await onObject({ ...header, chunks });
  for await (const _rest of chunks);
  for await (const _lineFeed of reader.take(1));
}

/** All of an object, for those that are small. */
export async function wholeOf(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  return Buffer.concat(parts);
}

interface ByteReader {
  /** Up to the next line feed, or what there is. */
  line(): Promise<string>;
  /** The next so many bytes. Taken only as far as it is read. */
  take(bytes: number): AsyncGenerator<Buffer>;
  drain(): Promise<void>;
  /** Nothing is read any more. */
  leave(): Promise<void>;
}

function byteReader(source: AsyncIterable<Uint8Array>): ByteReader {
  const chunks = source[Symbol.asyncIterator]();
  let rest = Buffer.alloc(0);
  const more = async (): Promise<boolean> => {
    const next = await chunks.next();
    if (next.done === true) return false;
    rest = Buffer.concat([rest, next.value]);
    return true;
  };
  return {
    async line() {
      while (!rest.includes(10)) if (!(await more())) break;
      const end = rest.indexOf(10);
      const text = rest.toString("latin1", 0, end < 0 ? rest.length : end);
      rest = rest.subarray(end < 0 ? rest.length : end + 1);
      return text;
    },
    async *take(bytes) {
      let left = bytes;
      while (left > 0) {
        if (rest.length === 0 && !(await more())) throw new Error("git ended in the middle of an object");
        const chunk = rest.subarray(0, left);
        rest = rest.subarray(chunk.length);
        left -= chunk.length;
        yield chunk;
      }
    },
    async drain() {
      while (await more()) rest = Buffer.alloc(0);
    },
    async leave() {
      await chunks.return?.();
    },
  };
}
