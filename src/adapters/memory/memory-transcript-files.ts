import { AoError } from "../../domain/errors.ts";
import type { FileWriter, TranscriptFiles } from "../../ports/transcript-files.ts";

interface MemoryFile {
  bytes: Uint8Array;
}

/** Files in memory, with a look inside for tests. */
export interface MemoryTranscriptFiles extends TranscriptFiles {
  /** The bytes of a file; `undefined` when there is none. */
  peek(path: string): Uint8Array | undefined;
  /** Puts bytes in the place of a file, as another program would. */
  poke(path: string, bytes: Uint8Array): void;
}

function joined(one: Uint8Array, other: Uint8Array): Uint8Array {
  const all = new Uint8Array(one.length + other.length);
  all.set(one);
  all.set(other, one.length);
  return all;
}

function parent(path: string): string {
  return path.slice(0, path.lastIndexOf("/"));
}

function writer(file: MemoryFile): FileWriter {
  return {
    async write(bytes) {
      file.bytes = joined(file.bytes, bytes);
      return bytes.length;
    },
    fsync: async () => undefined,
    close: async () => undefined,
  };
}

/** An in-memory twin of the real files; passes the same contract. Whatever is written is durable at once. */
export function memoryTranscriptFiles(): MemoryTranscriptFiles {
  const files = new Map<string, MemoryFile>();
  const folders = new Set<string>();

  function missing(path: string): AoError {
    return new AoError("data_dir_unusable", `there is no ${path}`);
  }

  function opened(path: string): MemoryFile {
    if (!folders.has(parent(path))) throw missing(parent(path));
    const file = files.get(path) ?? { bytes: new Uint8Array() };
    files.set(path, file);
    return file;
  }

  function existing(path: string): MemoryFile {
    const file = files.get(path);
    if (file === undefined) throw missing(path);
    return file;
  }

  return {
    async open(path) {
      const file = files.get(path);
      if (file === undefined) return undefined;
      const read = async (offset: number, maxBytes: number) => file.bytes.slice(offset, offset + maxBytes);
      return { sizeBytes: file.bytes.length, read, close: async () => undefined };
    },
    append: async (path) => writer(opened(path)),
    async create(path) {
      const file = opened(path);
      file.bytes = new Uint8Array();
      return writer(file);
    },
    async truncate(path, sizeBytes) {
      const file = existing(path);
      file.bytes = file.bytes.slice(0, sizeBytes);
    },
    async rename(from, to) {
      files.set(to, existing(from));
      files.delete(from);
    },
    async unlink(path) {
      files.delete(path);
    },
    async fsyncFolder(folder) {
      if (!folders.has(folder)) throw missing(folder);
    },
    async makeFolder(folder) {
      for (let path = folder; path !== ""; path = parent(path)) folders.add(path);
    },
    async list(folder) {
      const names = [...files.keys()].filter((path) => parent(path) === folder);
      return names.map((path) => path.slice(folder.length + 1));
    },
    peek: (path) => files.get(path)?.bytes,
    poke(path, bytes) {
      opened(path).bytes = bytes;
    },
  };
}
