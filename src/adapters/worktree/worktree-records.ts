import { lstat, readFile, realpath } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { namesAt } from "./entry-at.ts";
import { realpathOfAny } from "./safe-path.ts";
import { saysNothing } from "./trash.ts";

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

/** The record of the worktree at a resolved path. */
export async function findRecord(commonDir: string, path: string): Promise<WorktreeRecord | undefined> {
  const likely = await readRecord(join(commonDir, "worktrees", basename(path)));
  if (likely?.path === path) return likely;
  const records = await listRecords(commonDir);
  return records.find((record) => record.path === path);
}

/**
 * All linked worktrees of a repository; a record that cannot be read is left out.
 *
 * @throws AoError git_failed when their folder cannot be looked into.
 */
export async function listRecords(commonDir: string): Promise<readonly WorktreeRecord[]> {
  const folder = join(commonDir, "worktrees");
  const ids = await namesAt(folder);
  const records = await Promise.all(ids.map((id) => readRecord(join(folder, id))));
  return records.filter((record) => record !== undefined);
}

/** The record that is a private git directory; `undefined` when there is none that can be read. */
export async function recordOf(gitDir: string): Promise<WorktreeRecord | undefined> {
  return readRecord(gitDir).catch(() => undefined);
}

async function readRecord(gitDir: string): Promise<WorktreeRecord | undefined> {
  const text = await readFile(join(gitDir, "gitdir"), "utf8").catch(() => undefined);
  if (text === undefined) return undefined;
  const gitFile = resolve(gitDir, text.replace(/\n$/, ""));
  const path = dirname(gitFile);
  return { gitDir: await realpath(gitDir), path: join(await realpathOfAny(dirname(path)), basename(path)) };
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
  const entry = await lstat(file).catch(() => undefined);
  if (entry === undefined) return { kind: "broken", cause: "its .git file is missing" };
  if (!entry.isFile()) return { kind: "repository" };
  const text = await readFile(file, "utf8").catch(() => "");
  const target = /^gitdir: (.+?)\n?$/s.exec(text)?.[1];
  if (target === undefined) return { kind: "broken", cause: "its .git file is damaged" };
  return { kind: "link", gitDir: await realpathOfAny(resolve(folder, target)) };
}
