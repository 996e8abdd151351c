import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { hasErrorCode } from "../../domain/error-code.ts";

/** What the kernel puts behind the link text of what was removed (proc(5), /proc/pid/cwd). */
const DELETED = " (deleted)";

/** The path at the end of a line of `/proc/pid/maps`, behind five fields without spaces (proc(5)). */
const MAPPED = /^\S+ \S+ \S+ \S+ \d+ +(\/.*)$/gm;

/**
 * Paths that the process of one folder of `/proc` uses: its working directory, its program, what it has
 * open, and what it has mapped of `directory`. Nothing of what may not be read or went away meanwhile.
 */
export function usesOf(process: string, directory: string): readonly string[] {
  if (hasNoProgram(process)) return linked(process, ["cwd"]);
  const opened = orNothing(() => readdirSync(join(process, "fd"))).map((fd) => `fd/${fd}`);
  return [...linked(process, ["cwd", "exe", ...opened]), ...mapped(process, directory)];
}

/**
 * The kernel's own threads, two thirds of the entries of a quiet machine, run no program, have no memory to map anything
 * into and nothing open: only for such, and for what has exited, is the link there and leads nowhere (kernel/fork.c,
 * get_task_exe_file). One that may not be read is another matter.
 */
function hasNoProgram(process: string): boolean {
  try {
    readlinkSync(join(process, "exe"));
    return false;
  } catch (error) {
    return hasErrorCode(error, "ENOENT");
  }
}

/** Sockets, pipes and the like have link texts that are no paths. */
function linked(process: string, names: readonly string[]): readonly string[] {
  return names.flatMap((name) =>
    orNothing(() => [readlinkSync(join(process, name))].filter((path) => path.startsWith("/")).map(asItWas)),
  );
}

function mapped(process: string, directory: string): readonly string[] {
  const maps = orNothing(() => [readFileSync(join(process, "maps"), "utf8")]);
  const near = maps.filter((text) => text.includes(directory));
  return near.flatMap((text) => [...text.matchAll(MAPPED)].map(([, path = ""]) => asItWas(path)));
}

function asItWas(path: string): string {
  return path.endsWith(DELETED) && !existsSync(path) ? path.slice(0, -DELETED.length) : path;
}

function orNothing<Item>(read: () => readonly Item[]): readonly Item[] {
  try {
    return read();
  } catch {
    return [];
  }
}
