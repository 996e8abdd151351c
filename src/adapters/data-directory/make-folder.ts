import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { hasErrorCode } from "../../domain/error-code.ts";

function makeOne(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (!hasErrorCode(error, "EEXIST")) throw error;
  }
}

/**
 * Makes a folder of mode 0700 and those it lies in; one that is there stays as it is. Node's own
 * `recursive` never returns where a file system answers ENOENT for good, as /proc does (Node 20.20).
 */
export function makeFolder(path: string): void {
  try {
    makeOne(path);
  } catch (error) {
    if (!hasErrorCode(error, "ENOENT") || dirname(path) === path) throw error;
    makeFolder(dirname(path));
    makeOne(path);
  }
}
