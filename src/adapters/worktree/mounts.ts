import type { Dirent } from "node:fs";
import { lstat, readdir, readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { AoError, errorMessage } from "../../domain/errors.ts";
import type { WorkspaceFinding } from "../../domain/workspace-finding.ts";
import { isBelow } from "./safe-path.ts";
import { hasCode } from "./system-error.ts";

/** Linux; other systems have no such file (proc(5)). */
export const MOUNT_TABLE = "/proc/self/mountinfo";

const MAX_ITEMS = 20;

/**
 * Where other file systems are mounted at or below a resolved folder. A rename takes them along, and deleting the
 * folder would delete what is on them, a bind mount of a cache for example. Without a table what is on another
 * device is taken for mounted.
 *
 * @throws AoError data_dir_unusable when there is a table that cannot be read: nothing may be deleted then.
 */
export async function mountsBelow(folder: string, table = MOUNT_TABLE): Promise<readonly string[]> {
  const text = await tableAt(table);
  if (text === undefined) return devicesBelow(folder);
  return parseMounts(text).filter((path) => path === folder || isBelow(folder, path));
}

/** `undefined` when there is none. */
async function tableAt(table: string): Promise<string | undefined> {
  try {
    return await readFile(table, "utf8");
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw new AoError("data_dir_unusable", `what is mounted is not known: ${errorMessage(error)}`, {
      details: { path: table },
      cause: error,
    });
  }
}

async function devicesBelow(folder: string): Promise<readonly string[]> {
  const [top, around] = await Promise.all([folder, dirname(folder)].map(deviceOf));
  if (top === undefined) return [];
  const isInside = top === around || folder === dirname(folder);
  return isInside ? (await othersIn(Buffer.from(folder), top)).map(String) : [folder];
}

/** A folder that cannot be looked into is told where its content is judged. Names need not be UTF-8. */
async function othersIn(folder: Buffer, device: number): Promise<readonly Buffer[]> {
  const options = { withFileTypes: true, encoding: "buffer" } as const;
  const entries = await readdir(folder, options).catch((): Dirent<Buffer>[] => []);
  const folders = entries.filter((entry) => entry.isDirectory());
  const found = folders.map(async ({ name }) => {
    const path = Buffer.concat([folder, Buffer.from("/"), name]);
    const own = await deviceOf(path);
    if (own === undefined) return [];
    return own === device ? othersIn(path, device) : [path];
  });
  return (await Promise.all(found)).flat();
}

async function deviceOf(path: string | Buffer): Promise<number | undefined> {
  return (await lstat(path).catch(() => undefined))?.dev;
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
