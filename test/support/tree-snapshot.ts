import { createHash } from "node:crypto";
import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { gitExit, gitIn, type TestRepository } from "./git-repository.ts";

/** Everything of a folder by path: type and mode, and the content's hash or where a link leads. */
export type TreeSnapshot = Readonly<Record<string, string>>;

/** A folder byte for byte. Links are not followed; `isLeftOut` is asked about each path below it. */
function treeSnapshot(folder: string, isLeftOut: (path: string) => boolean = () => false): TreeSnapshot {
  if (!existsSync(folder)) return {};
  const entries: [string, string][] = [["", entryOf(Buffer.from(folder))]];
  const walk = (path: string) => {
    for (const name of readdirSync(placeOf(folder, path), "latin1").sort()) {
      const below = join(path, name);
      if (isLeftOut(below)) continue;
      const place = placeOf(folder, below);
      entries.push([below, entryOf(place)]);
      if (lstatSync(place).isDirectory()) walk(below);
    }
  };
  if (lstatSync(folder).isDirectory()) walk("");
  return Object.fromEntries(entries);
}

/** A path below a folder has one character for each byte: not every name is text. */
function placeOf(folder: string, below: string): Buffer {
  return Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(below, "latin1")]);
}

function entryOf(path: Buffer): string {
  const entry = lstatSync(path);
  const mode = entry.mode.toString(8);
  if (entry.isSymbolicLink()) return `${mode} ${readlinkSync(path)}`;
  return entry.isFile() ? `${mode} ${createHash("sha256").update(readFileSync(path)).digest("hex")}` : mode;
}

/** A worktree with its repository. */
export interface WorktreeSnapshot {
  readonly tree: TreeSnapshot;
  /** All that git knows but the objects: refs, logs, configuration, and of each worktree HEAD and index. */
  readonly git: TreeSnapshot;
  readonly refs: string;
}

/** A worktree's files and everything in its repository that a command could have changed. */
export function worktreeSnapshot({ path: repository }: TestRepository, path: string): WorktreeSnapshot {
  const gitDir = existsSync(join(repository, ".git")) ? join(repository, ".git") : repository;
  const isThere = gitExit(repository, "rev-parse", "--git-dir") === 0;
  return {
    tree: treeSnapshot(path),
    git: treeSnapshot(gitDir, (name) => name === "objects" || name.endsWith("/objects")),
    refs: isThere ? gitIn(repository, "for-each-ref") : "",
  };
}
