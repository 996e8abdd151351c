import { lstat, realpath } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { AoError } from "../../domain/errors.ts";

/**
 * `path` with its links resolved, proven to lie below `managedRoot`, itself resolved. Neither has to exist.
 *
 * @throws AoError workspace_unsafe_path when it lies elsewhere, leads there through a link, or is a link.
 */
export async function resolveInside(managedRoot: string, path: string): Promise<string> {
  if (!isAbsolute(path) || path.includes("\0")) throw unsafePath(path, "it is no absolute path");
  const root = await realpathOfAny(managedRoot);
  const below = pathBelow(resolve(managedRoot), path) ?? pathBelow(root, path);
  if (below === undefined) throw unsafePath(path, `it is outside ${managedRoot}`);
  const parent = await realpathOfAny(join(root, dirname(below)));
  if (parent !== root && !isBelow(root, parent)) throw unsafePath(path, `it leads outside ${managedRoot}`);
  const resolved = join(parent, basename(below));
  const entry = await lstat(resolved).catch(() => undefined);
  if (entry?.isSymbolicLink() === true) throw unsafePath(path, "it is a symbolic link");
  return resolved;
}

/** The refusal to touch what is not a session's own worktree. */
export function unsafePath(path: string, why: string): AoError {
  return new AoError("workspace_unsafe_path", `${path} is not touched: ${why}`, { details: { path } });
}

/** Whether the resolved `path` lies below the resolved `folder`; the folder itself does not. */
export function isBelow(folder: string, path: string): boolean {
  return path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);
}

/** The resolved path of what need not exist: of its nearest folder that does, and the rest as it is. */
export async function realpathOfAny(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(await realpathOfAny(parent), basename(path));
  }
}

function pathBelow(folder: string, path: string): string | undefined {
  const below = relative(folder, resolve(path));
  const outside = below === "" || below === ".." || below.startsWith(`..${sep}`) || isAbsolute(below);
  return outside ? undefined : below;
}
