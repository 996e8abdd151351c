import { closeSync, constants, createReadStream, fstatSync, openSync, type Stats } from "node:fs";
import { Socket } from "node:net";
import { resolve } from "node:path";
import { AoError, errorMessage } from "../src/domain/errors.ts";
import type { Io } from "./io.ts";

/** As long as a prompt may be; nothing is read beyond. */
const MAX_BYTES = 16 * 1024 * 1024;
/** An open that waits, as that of a pipe nobody writes to does, could not be interrupted (Node 20.20). */
const WITHOUT_WAITING = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

type Chunks = AsyncIterable<Buffer | string>;

function unreadable(what: string, why: string, cause?: unknown): AoError {
  return new AoError("usage", `${what} cannot be read: ${why}`, { cause });
}

function kindOf(stats: Stats): string {
  if (stats.isDirectory()) return "it is a folder";
  return stats.isSocket() ? "it is a socket" : "it is a device";
}

function chunksOf(fd: number, what: string): Chunks {
  const stats = fstatSync(fd);
  if (stats.isFile()) return createReadStream("", { fd });
  if (stats.isFIFO()) return new Socket({ fd, readable: true, writable: false });
  closeSync(fd);
  throw unreadable(what, kindOf(stats));
}

function openFile(path: string, what: string): Chunks {
  try {
    return chunksOf(openSync(path, WITHOUT_WAITING), what);
  } catch (cause) {
    throw cause instanceof AoError ? cause : unreadable(what, errorMessage(cause), cause);
  }
}

function stdinOf({ stdin }: Io, flag: string): Chunks {
  if (!stdin.isTTY) return stdin;
  throw new AoError("usage", `${flag} reads standard input, which is a terminal`, {
    hint: `name a file, or pipe the text in`,
  });
}

async function collect(chunks: Chunks, what: string): Promise<Buffer> {
  const kept: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of chunks) {
      const buffer = Buffer.from(chunk);
      bytes += buffer.length;
      if (bytes > MAX_BYTES) throw new AoError("usage", `${what} is longer than 16 MiB`);
      kept.push(buffer);
    }
  } catch (cause) {
    throw cause instanceof AoError ? cause : unreadable(what, errorMessage(cause), cause);
  }
  return Buffer.concat(kept);
}

/**
 * The text of a file or a named pipe, or of standard input for `-`, byte for byte. A signal ends the wait for
 * one that nobody writes to.
 *
 * @throws AoError usage when it is something else, cannot be read, is longer than 16 MiB, or is no UTF-8.
 */
export async function readText(io: Io, path: string, flag: string): Promise<string> {
  const what = path === "-" ? "standard input" : `${flag} ${path}`;
  const chunks = path === "-" ? stdinOf(io, flag) : openFile(resolve(io.cwd, path), what);
  const bytes = await collect(chunks, what);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new AoError("usage", `${what} is not UTF-8 text`, { cause });
  }
}
