import { AoError } from "../../src/domain/errors.ts";

/** A write or a cut of a file that is not durable yet. */
type DataChange =
  | { readonly kind: "write"; readonly offset: number; readonly bytes: Uint8Array }
  | { readonly kind: "truncate"; readonly sizeBytes: number };

/** A file, whatever its name: what reads show, what is durable, and what lies between. */
export interface Inode {
  bytes: Uint8Array;
  durable: Uint8Array;
  pending: DataChange[];
}

type NameChange =
  | { readonly kind: "link"; readonly path: string; readonly inode: Inode }
  | { readonly kind: "rename"; readonly from: string; readonly to: string; readonly inode: Inode }
  | { readonly kind: "unlink"; readonly path: string };

type Names = Map<string, Inode>;

/** A disk as POSIX allows it to be: nothing is durable before its fsync, no name before that of its folder. */
export interface Disk {
  find(path: string): Inode | undefined;
  make(path: string): Inode;
  makeEmpty(path: string): Inode;
  truncate(path: string, sizeBytes: number): void;
  rename(from: string, to: string): void;
  unlink(path: string): void;
  list(folder: string): readonly string[];
  fsync(inode: Inode): void;
  /** A failed fsync: what it should have made durable never will be, though reads still show it. */
  spoil(inode: Inode): void;
  fsyncFolder(folder: string): void;
  /** Durable at once. */
  makeFolder(folder: string): void;
  losePower(loss: "drop" | "keep" | "reorder", below: (limit: number) => number): void;
  /** The same disk once more. */
  clone(): Disk;
  /** All files by path, as reads show them. */
  contents(): ReadonlyMap<string, string>;
}

/** Smallest piece of a write that reaches a disk on its own. Small, to tear records in many ways. */
const BLOCK_BYTES = 48;

function resized(bytes: Uint8Array, sizeBytes: number): Uint8Array {
  const next = new Uint8Array(sizeBytes);
  next.set(bytes.subarray(0, sizeBytes));
  return next;
}

function changed(bytes: Uint8Array, change: DataChange): Uint8Array {
  if (change.kind === "truncate") return resized(bytes, change.sizeBytes);
  const next = resized(bytes, Math.max(bytes.length, change.offset + change.bytes.length));
  next.set(change.bytes, change.offset);
  return next;
}

function apply(inode: Inode, change: DataChange): void {
  inode.bytes = changed(inode.bytes, change);
  inode.pending.push(change);
}

/** Adds bytes to the end of a file. */
export function writeTo(inode: Inode, bytes: Uint8Array): number {
  apply(inode, { kind: "write", offset: inode.bytes.length, bytes: bytes.slice() });
  return bytes.length;
}

function inBlocks(change: DataChange): readonly DataChange[] {
  if (change.kind === "truncate") return [change];
  const count = Math.ceil(change.bytes.length / BLOCK_BYTES);
  return Array.from({ length: count }, (_, block) => ({
    kind: "write" as const,
    offset: change.offset + block * BLOCK_BYTES,
    bytes: change.bytes.subarray(block * BLOCK_BYTES, (block + 1) * BLOCK_BYTES),
  }));
}

function rename(names: Names, change: NameChange): void {
  switch (change.kind) {
    case "link":
      names.set(change.path, change.inode);
      break;
    case "rename":
      if (names.get(change.from) === change.inode) names.delete(change.from);
      names.set(change.to, change.inode);
      break;
    case "unlink":
      names.delete(change.path);
      break;
  }
}

/** Each inode once, its pending changes included. */
function copied(inodes: Iterable<Inode>): ReadonlyMap<Inode, Inode> {
  return new Map([...new Set(inodes)].map((inode) => [inode, { ...inode, pending: [...inode.pending] }]));
}

interface DiskState {
  readonly names: Names;
  readonly durable: Names;
  readonly pending: NameChange[];
  readonly folders: Set<string>;
}

function parent(path: string): string {
  return path.slice(0, path.lastIndexOf("/"));
}

function diskOf({ names, durable, pending, folders }: DiskState): Disk {
  const requireFolder = (folder: string) => {
    if (!folders.has(folder)) throw new AoError("data_dir_unusable", `there is no ${folder}`);
  };
  const existing = (path: string) => {
    const inode = names.get(path);
    if (inode === undefined) throw new AoError("data_dir_unusable", `there is no ${path}`);
    return inode;
  };
  const name = (change: NameChange) => {
    rename(names, change);
    pending.push(change);
  };
  const make = (path: string) => {
    const found = names.get(path);
    if (found !== undefined) return found;
    requireFolder(parent(path));
    const inode: Inode = { bytes: new Uint8Array(), durable: new Uint8Array(), pending: [] };
    name({ kind: "link", path, inode });
    return inode;
  };
  const settle = (inode: Inode, kept: readonly DataChange[]) => {
    inode.durable = kept.reduce(changed, inode.durable);
    inode.pending = [];
  };
  const all = () => [
    ...names.values(),
    ...durable.values(),
    ...pending.flatMap((one) => ("inode" in one ? [one.inode] : [])),
  ];

  return {
    find: (path) => names.get(path),
    make,
    makeEmpty(path) {
      const inode = make(path);
      if (inode.bytes.length > 0) apply(inode, { kind: "truncate", sizeBytes: 0 });
      return inode;
    },
    truncate: (path, sizeBytes) => apply(existing(path), { kind: "truncate", sizeBytes }),
    rename: (from, to) => name({ kind: "rename", from, to, inode: existing(from) }),
    unlink(path) {
      if (names.has(path)) name({ kind: "unlink", path });
    },
    list: (folder) =>
      [...names.keys()].flatMap((path) =>
        path.startsWith(`${folder}/`) ? [path.slice(folder.length + 1)] : [],
      ),
    fsync: (inode) => settle(inode, inode.pending),
    spoil: (inode) => settle(inode, []),
    makeFolder: (folder) => void folders.add(folder),
    fsyncFolder(folder) {
      requireFolder(folder);
      for (const change of pending.splice(0)) rename(durable, change);
    },
    losePower(loss, below) {
      const stays = () => loss === "keep" || (loss === "reorder" && below(2) === 0);
      for (const inode of new Set(all())) {
        settle(inode, inode.pending.flatMap(inBlocks).filter(stays));
        inode.bytes = inode.durable;
      }
      for (const change of pending.splice(0).filter(stays)) rename(durable, change);
      names.clear();
      for (const [path, inode] of durable) names.set(path, inode);
    },
    clone() {
      const copies = copied(all());
      const copyOf = (inode: Inode) => copies.get(inode) ?? inode;
      const copyNames = (of: Names) =>
        new Map([...of].map(([path, inode]) => [path, copyOf(inode)] as const));
      const copyPending = pending.map((one) => ("inode" in one ? { ...one, inode: copyOf(one.inode) } : one));
      return diskOf({
        ...{ names: copyNames(names), durable: copyNames(durable) },
        ...{ pending: copyPending, folders: new Set(folders) },
      });
    },
    contents: () => new Map([...names].map(([path, { bytes }]) => [path, new TextDecoder().decode(bytes)])),
  };
}

/** A disk without files. */
export function emptyDisk(): Disk {
  return diskOf({ names: new Map(), durable: new Map(), pending: [], folders: new Set() });
}
