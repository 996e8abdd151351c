import type { BytePath } from "./byte-path.ts";

/** git takes no `.git` into a tree, in whatever case; so that one gets an ending, and one with that ending one more. */
const GIT_NAME = /(^|\/)(\.git(?:%ao)*)(?=\/|$)/gi;
const KEPT_NAME = /(^|\/)(\.git(?:%ao)*)%ao(?=\/|$)/gi;

/** How a path is called in a tree that keeps it. */
export function toTreeName(path: BytePath): string {
  return path.replace(GIT_NAME, "$1$2%ao");
}

/** The path that was kept under this name. */
export function fromTreeName(name: string): BytePath {
  return name.replace(KEPT_NAME, "$1$2");
}
