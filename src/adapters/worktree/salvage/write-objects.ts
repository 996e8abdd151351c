import { randomUUID } from "node:crypto";
import { open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { bytesOf } from "./byte-path.ts";
import { READ_FLAGS } from "./file-entry.ts";
import { leavingNothing } from "./leaving-nothing.ts";
import type { Plumbing } from "./plumbing.ts";

/** A blob that has to be in the repository. */
export interface WantedBlob {
  readonly oid: string;
  readonly source:
    | { readonly kind: "bytes"; readonly bytes: Uint8Array }
    | { readonly kind: "file"; readonly place: Buffer; readonly size: number };
}

/**
 * Writes those blobs that the repository does not have yet, all into one pack that is on the disk when this
 * returns. Files are read as they are, whatever their size.
 *
 * @param folder for a file of notes.
 * @returns false when a file is no more what it was; what was written of it is nobody's then, and git takes it
 *   away some day.
 */
export async function writeBlobs(
  plumbing: Plumbing,
  blobs: readonly WantedBlob[],
  folder: string,
): Promise<boolean> {
  const missing = await missingOf(plumbing, [...new Map(blobs.map((blob) => [blob.oid, blob])).values()]);
  if (missing.length === 0) return true;
  const marks = join(folder, "marks");
  const args = ["fast-import", "--quiet", "--depth=0", `--export-marks=${marks}`];
  await leavingNothing(plumbing, async () => {
    const git = plumbing.start(args, stream([...missing, ownMark()]));
    for await (const _nothing of git.output);
    await git.done("keep the files");
  });
  const written = new Set((await readFile(marks, "utf8")).split("\n"));
  return missing.every(({ oid }, at) => written.has(`:${at + 1} ${oid}`));
}

/**
 * Makes a pack differ from every other. git names one by its content, and two who write the same at once, or one
 * after another that died in the middle, would be in each other's way.
 */
function ownMark(): WantedBlob {
  return { oid: "", source: { kind: "bytes", bytes: bytesOf(randomUUID()) } };
}

async function missingOf(plumbing: Plumbing, blobs: readonly WantedBlob[]): Promise<readonly WantedBlob[]> {
  if (blobs.length === 0) return [];
  const names = blobs.map(({ oid }) => `${oid}\n`).join("");
  const answer = await plumbing.tell(
    "look for what is kept",
    ["cat-file", "--batch-check", "--buffer"],
    names,
  );
  const lines = answer.split("\n");
  return blobs.filter(({ oid }, at) => lines[at] !== undefined && !lines[at].startsWith(`${oid} blob `));
}

/** git-fast-import(1), "blob". Each is announced with its size, and so has to come in exactly that size. */
async function* stream(blobs: readonly WantedBlob[]): AsyncGenerator<Uint8Array> {
  for (const [at, { source }] of blobs.entries()) {
    const size = source.kind === "bytes" ? source.bytes.length : source.size;
    yield bytesOf(`blob\nmark :${at + 1}\ndata ${size}\n`);
    if (source.kind === "bytes") yield source.bytes;
    else yield* contentOf(source.place, size);
    yield bytesOf("\n");
  }
}

const CHUNK_BYTES = 1024 * 1024;

/** What is missing of a file that shrank or is gone comes as zeros: it is noticed by its name. */
async function* contentOf(place: Buffer, size: number): AsyncGenerator<Uint8Array> {
  let left = size;
  const file = await open(place, READ_FLAGS).catch(() => undefined);
  try {
    while (file !== undefined && left > 0) {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(Math.min(left, CHUNK_BYTES)));
      if (bytesRead === 0) break;
      left -= bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file?.close();
  }
  for (; left > 0; left -= Math.min(left, CHUNK_BYTES)) yield Buffer.alloc(Math.min(left, CHUNK_BYTES));
}
