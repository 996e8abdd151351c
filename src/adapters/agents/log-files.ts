import { randomUUID } from "node:crypto";
import { link, open, readdir, readFile, rm } from "node:fs/promises";
import { hasErrorCode } from "../../domain/error-code.ts";
import { AoError, errorMessage } from "../../domain/errors.ts";

/** The error for what may be there and cannot be looked at: that is not the same as nothing. */
export function unreadable(path: string, cause: unknown): AoError {
  return new AoError("agent_unavailable", `${path} cannot be read: ${errorMessage(cause)}`, {
    hint: "see that it can be read, and try again",
    details: { path },
    cause,
  });
}

/** What a reading gives; `undefined` when nothing lies at the path. @throws AoError agent_unavailable */
async function ifThere<Found>(path: string, read: () => Promise<Found>): Promise<Found | undefined> {
  try {
    return await read();
  } catch (error) {
    if (hasErrorCode(error, "ENOENT", "ENOTDIR")) return undefined;
    throw unreadable(path, error);
  }
}

/** A file as text; `undefined` when there is none. @throws AoError agent_unavailable when it cannot be read. */
export function readIfThere(path: string): Promise<string | undefined> {
  return ifThere(path, () => readFile(path, "utf8"));
}

/** The names in a folder, none when there is no folder. @throws AoError agent_unavailable when it cannot be read. */
export async function namesIn(folder: string): Promise<readonly string[]> {
  return (await ifThere(folder, () => readdir(folder))) ?? [];
}

/** The last bytes of a file as text, which may begin inside a line; `undefined` when it cannot be read. */
export async function readTail(path: string, maxBytes: number): Promise<string | undefined> {
  try {
    const file = await open(path, "r");
    try {
      const { size } = await file.stat();
      const length = Math.min(size, maxBytes);
      const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, size - length);
      return buffer.subarray(0, bytesRead).toString("utf8");
    } finally {
      await file.close();
    }
  } catch {
    return undefined;
  }
}

/** Makes a file of mode 0600 that appears whole or not at all, durably. False when the name is taken. */
export async function putNew(path: string, content: string): Promise<boolean> {
  const partial = `${path}.${randomUUID()}.partial`;
  const file = await open(partial, "wx", 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
    await link(partial, path);
    return true;
  } catch (error) {
    if (hasErrorCode(error, "EEXIST")) return false;
    throw error;
  } finally {
    await file.close();
    await rm(partial, { force: true });
  }
}
