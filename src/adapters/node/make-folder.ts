import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { hasErrorCode } from "../../domain/error-code.ts";

async function makeOne(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    if (!hasErrorCode(error, "EEXIST")) throw error;
  }
}

/**
 * Makes a folder of mode 0700 and those it lies in; one that is there stays as it is. Node's own
 * `recursive` never returns where a file system answers ENOENT for good, as /proc does (Node 20.20).
 */
export async function makeFolder(path: string): Promise<void> {
  try {
    await makeOne(path);
  } catch (error) {
    if (!hasErrorCode(error, "ENOENT") || dirname(path) === path) throw error;
    await makeFolder(dirname(path));
    await makeOne(path);
  }
}
