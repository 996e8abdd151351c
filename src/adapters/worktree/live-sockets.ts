import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** Where Linux tells of all sockets that a process holds, by the name each was bound to (proc_net_unix, unix(7)). */
const TABLE = "/proc/net/unix";
const PATH = /^[0-9a-f]+: (?:[0-9A-F]+ ){5} *[0-9]+ (.+)$/;

/**
 * Those of the sockets in a folder that a process still has; by its name alone, for nobody is to be spoken to. One
 * bound by a relative name counts when its name may be meant. Where the system keeps no such table, none is known.
 */
export async function liveSockets(
  roots: readonly string[],
  sockets: readonly string[],
  table: string = TABLE,
): Promise<readonly string[]> {
  if (sockets.length === 0) return [];
  const text = await readFile(table, "utf8").catch(() => "");
  const bound = text.split("\n").flatMap((line) => PATH.exec(line)?.[1] ?? []);
  return sockets.filter((path) => roots.some((root) => bound.some((name) => isOf(name, join(root, path)))));
}

function isOf(name: string, place: string): boolean {
  if (name.startsWith("/")) return join(name) === place;
  const relative = name.replace(/^(\.{1,2}\/+)+/, "");
  return !name.startsWith("@") && place.endsWith(join("/", relative));
}
