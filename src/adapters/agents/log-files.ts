import { randomUUID } from "node:crypto";
import { link, open, rm } from "node:fs/promises";
import { hasErrorCode } from "../../domain/error-code.ts";

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
