import { lstat, readFile, realpath } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { errorMessage } from "../../domain/errors.ts";
import { namesAt, unseen } from "./entry-at.ts";
import { realpathOfAny } from "./safe-path.ts";
import { saysNothing } from "./system-error.ts";

/**
 * What a repository remembers of one linked worktree, read from its files so that no name can be mistaken
 * (gitrepository-layout(5), `worktrees/`; the same in every git from 2.5 on).
 */
export interface WorktreeRecord {
  /** Its private git directory, `<common>/worktrees/<id>`. */
  readonly gitDir: string;
  /** Resolved path of its folder, which may be gone. */
  readonly path: string;
}

/** The record of the worktree at a resolved path. @throws AoError as `listRecords` */
export async function findRecord(commonDir: string, path: string): Promise<WorktreeRecord | undefined> {
  const likely = await readRecord(join(commonDir, "worktrees", basename(path)));
  if (likely?.path === path) return likely;
  const records = await listRecords(commonDir);
  return records.find((record) => record.path === path);
}

/**
 * All linked worktrees of a repository; one that is just being dropped is left out.
 *
 * @throws AoError git_unavailable when their folder cannot be looked into, or one of them cannot be read.
 */
export async function listRecords(commonDir: string): Promise<readonly WorktreeRecord[]> {
  const folder = join(commonDir, "worktrees");
  const ids = await namesAt(folder, "git_unavailable");
  const records = await Promise.all(ids.map((id) => readRecord(join(folder, id))));
  return records.filter((record) => record !== undefined);
}

/**
 * The record that is a private git directory; `undefined` when there is none, also one that is just dropped.
 *
 * @throws AoError git_unavailable when there is one that cannot be read.
 */
export async function readRecord(gitDir: string): Promise<WorktreeRecord | undefined> {
  try {
    const text = await readFile(join(gitDir, "gitdir"), "utf8");
    const path = dirname(resolve(gitDir, text.replace(/\n$/, "")));
    return { gitDir: await realpath(gitDir), path: join(await realpathOfAny(dirname(path)), basename(path)) };
  } catch (error) {
    if (saysNothing(error)) return undefined;
    throw unseen(gitDir, error, "git_unavailable");
  }
}

/** Why git holds on to a worktree, `""` without a reason or one to read; `undefined` when it is not locked. */
export async function lockReason(record: WorktreeRecord): Promise<string | undefined> {
  const unread = (error: unknown) => (saysNothing(error) ? undefined : "");
  const text = await readFile(join(record.gitDir, "locked"), "utf8").catch(unread);
  return text?.trim();
}

/** Where the `.git` of a folder leads: a linked worktree has a file there, a repository a folder. */
export type GitLink =
  | { readonly kind: "link"; readonly gitDir: string }
  | { readonly kind: "repository" }
  | { readonly kind: "broken"; readonly cause: string };

/** Reads `<folder>/.git`. */
export async function readGitLink(folder: string): Promise<GitLink> {
  const file = join(folder, ".git");
  const entry = await lstat(file).catch(brokenBy);
  if ("kind" in entry) return entry;
  if (!entry.isFile()) return { kind: "repository" };
  const text = await readFile(file, "utf8").catch(brokenBy);
  if (typeof text !== "string") return text;
  const target = /^gitdir: (.+?)\n?$/s.exec(text)?.[1];
  if (target === undefined) return { kind: "broken", cause: "its .git file is damaged" };
  return { kind: "link", gitDir: await realpathOfAny(resolve(folder, target)) };
}

function brokenBy(error: unknown): GitLink & { readonly kind: "broken" } {
  const cause = saysNothing(error) ? "is missing" : `cannot be read: ${errorMessage(error)}`;
  return { kind: "broken", cause: `its .git file ${cause}` };
}
