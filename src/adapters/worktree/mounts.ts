import { readFile } from "node:fs/promises";
import type { WorkspaceFinding } from "../../domain/workspace-finding.ts";
import { isBelow } from "./safe-path.ts";

/** Linux; where there is no such file nothing is known of mounts (proc(5)). */
export const MOUNT_TABLE = "/proc/self/mountinfo";

const MAX_ITEMS = 20;

/**
 * Where other file systems are mounted at or below a resolved folder. A rename takes them along, and deleting the
 * folder would delete what is on them, a bind mount of a cache for example.
 */
export async function mountsBelow(folder: string, table = MOUNT_TABLE): Promise<readonly string[]> {
  const text = await readFile(table, "utf8").catch(() => "");
  return parseMounts(text).filter((path) => path === folder || isBelow(folder, path));
}

/** They as a finding; none is no finding. */
export function mountFindings(folder: string, mounts: readonly string[]): readonly WorkspaceFinding[] {
  if (mounts.length === 0) return [];
  const items = mounts.slice(0, MAX_ITEMS).map((path) => path.slice(folder.length + 1) || path);
  const noun = mounts.length === 1 ? "mounted file system" : "mounted file systems";
  const detail = `${mounts.length} ${noun}: ${items.slice(0, 3).join(", ")}`;
  return [{ kind: "in_use", detail, items, count: mounts.length }];
}

/** Mount points of a mountinfo: its fifth field, with blanks and backslashes in octal (proc(5)). */
export function parseMounts(table: string): readonly string[] {
  return table.split("\n").flatMap((line) => {
    const path = line.split(" ")[4];
    return path === undefined ? [] : [unescapeOctal(path)];
  });
}

function unescapeOctal(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_all, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  );
}
