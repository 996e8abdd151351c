import { lstatSync, realpathSync } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { AoError } from "../../../../domain/errors.ts";

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** Resolves all links of a path whose last parts need not exist; `undefined` for a link to nowhere. */
function resolveLinks(path: string): string | undefined {
  if (exists(path)) {
    try {
      return realpathSync(path);
    } catch {
      return undefined;
    }
  }
  const parent = resolveLinks(dirname(path));
  return parent === undefined ? undefined : join(parent, basename(path));
}

/**
 * A path the agent may edit, relative to `root`, which must be resolved. Reads the file system.
 *
 * @throws AoError usage when it leads out of `root` after resolving links, or into a git directory.
 */
export function confinePath(root: string, path: string): string {
  const resolved = resolveLinks(resolve(root, path));
  const shown = JSON.stringify(path);
  if (resolved === undefined || !resolved.startsWith(root + sep)) {
    throw new AoError("usage", `${shown} is outside of the working directory`);
  }
  const inside = relative(root, resolved);
  if (inside.split(sep).some((part) => part.toLowerCase() === ".git")) {
    throw new AoError("usage", `${shown} belongs to git`);
  }
  return inside;
}
