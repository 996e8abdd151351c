import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";

/** Longer than any configuration or rules; nothing beyond is read. */
const MAX_BYTES = 1_000_000;

/**
 * The text of a file of at most 1 MB, byte for byte. Never waits for a pipe that nobody writes to.
 *
 * @throws Error that says why not, also when it is no file, too long, or no UTF-8.
 */
export function readUtf8(path: string): string {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) throw new Error("it is no file");
    if (stats.size > MAX_BYTES) throw new Error("it is longer than 1 MB");
    return decoded(readFileSync(file));
  } finally {
    closeSync(file);
  }
}

function decoded(bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new Error("it is not UTF-8 text", { cause });
  }
}
