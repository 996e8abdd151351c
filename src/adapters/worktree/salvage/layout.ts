import type { HeadPosition } from "../../../domain/salvage.ts";

/**
 * What lies where in the tree of a salvage. `files` is the working tree, raw; `staged` the index without its
 * conflicts, `stages/<n>/` those; `index` the index itself; `git/` the files of the private git directory; `objects/`
 * what those name. `special` is there when there are pipes, sockets or devices. `ignored` and `folders` are lists of paths that end with NUL.
 */
export const LAYOUT = {
  about: "about.json",
  files: "files",
  staged: "staged",
  stages: "stages",
  index: "index",
  git: "git",
  objects: "objects",
  ignored: "ignored",
  folders: "folders",
  permissions: "permissions",
  special: "special",
} as const;

/** What is told in words. */
export interface About {
  readonly head: HeadPosition;
  readonly refs: Readonly<Record<string, string>>;
}

const VERSION = 1;

/** As bytes; the same for the same. */
export function encodeAbout({ head, refs }: About): Buffer {
  return Buffer.from(`${JSON.stringify({ version: VERSION, head, refs }, null, 2)}\n`);
}

/** Parses what `encodeAbout` wrote. @throws Error on anything else, for example of a later `ao`. */
export function parseAbout(text: string): About {
  const value: unknown = JSON.parse(text);
  if (!isRecord(value) || value["version"] !== VERSION) throw new Error("it was kept by another ao");
  const { head, refs } = value;
  const position = parseHead(head);
  if (position === undefined || !isRecord(refs)) throw new Error("it was kept by another ao");
  const named = Object.entries(refs).map(([name, oid]) => [name, String(oid)] as const);
  return { head: position, refs: Object.fromEntries(named) };
}

/** Parses where HEAD stood; `undefined` when it is no such thing. */
export function parseHead(value: unknown): HeadPosition | undefined {
  if (!isRecord(value)) return undefined;
  const { kind, branch, commit } = value;
  if (kind === "detached" && typeof commit === "string") return { kind, commit };
  const isBranch = kind === "branch" && typeof branch === "string";
  return isBranch && (commit === null || typeof commit === "string") ? { kind, branch, commit } : undefined;
}

/** Whether it is an object of named values. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
