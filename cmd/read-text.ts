import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { AoError, errorMessage } from "../src/domain/errors.ts";
import type { Io } from "./io.ts";

/** More than any prompt or message may be; reading stops there. */
const MAX_BYTES = 64 * 1024 * 1024;

async function readStdin(io: Io, flag: string): Promise<Buffer> {
  if (io.stdin.isTTY) {
    throw new AoError("usage", `${flag} reads standard input, which is a terminal`, {
      hint: `name a file, or pipe the text in`,
    });
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of io.stdin) {
    const buffer = Buffer.from(chunk);
    bytes += buffer.length;
    if (bytes > MAX_BYTES) throw new AoError("usage", "standard input is longer than 64 MiB");
    chunks.push(buffer);
  }
  return Buffer.concat(chunks);
}

async function readBytes(io: Io, path: string, flag: string): Promise<Buffer> {
  if (path === "-") return readStdin(io, flag);
  try {
    return await readFile(resolve(io.cwd, path));
  } catch (cause) {
    throw new AoError("usage", `${flag} ${path} cannot be read: ${errorMessage(cause)}`, { cause });
  }
}

/**
 * The text of a file, or of standard input for `-`, byte for byte.
 *
 * @throws AoError usage when it cannot be read or is no UTF-8.
 */
export async function readText(io: Io, path: string, flag: string): Promise<string> {
  const bytes = await readBytes(io, path, flag);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new AoError("usage", `${flag} ${path} is not UTF-8 text`, { cause });
  }
}
