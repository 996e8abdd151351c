import { accessSync, constants, existsSync, mkdtempSync, realpathSync, rmSync, statSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** A fresh folder on another file system than the temporary directory is on, removed when the test ends. */
export function otherDisk(): string {
  const own = statSync(tmpdir()).dev;
  const other = ["/dev/shm", "/var/tmp", "/run/shm", homedir()].find((path) => isOther(path, own));
  if (other === undefined) throw new Error(`nothing but the file system of ${tmpdir()} can be written to`);
  const folder = realpathSync(mkdtempSync(join(other, "ao-disk-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

function isOther(path: string, device: number): boolean {
  if (!existsSync(path) || statSync(path).dev === device) return false;
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
