import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { AoError, isAoError } from "../../domain/errors.ts";
import type { IgnoredRule } from "../../domain/ignored-rule.ts";
import { shellQuoted } from "../../domain/shell-quoted.ts";
import type { Locks } from "../../ports/locks.ts";
import type { ProcessTable } from "../../ports/process-table.ts";
import type { WorkspaceRef } from "../../ports/workspace.ts";
import { entryAt, namesAt } from "./entry-at.ts";
import { type Marker, readMarker } from "./marker.ts";
import { openRepository, type Repository } from "./repository.ts";
import type { Git } from "./run-git.ts";
import { resolveInside, unsafePath } from "./safe-path.ts";
import { findGoing, findHeld, type Trash } from "./trash.ts";
import { findRecord, listRecords, readGitLink, type WorktreeRecord } from "./worktree-records.ts";

/** Whose worktree one is, as its marker says. */
export type WorktreeOwner = Pick<Marker, "sessionId" | "projectId" | "repositoryPath">;

/** What this adapter works with. */
export interface Context {
  readonly git: Git;
  readonly processes: Pick<ProcessTable, "usersOf" | "family" | "signal">;
  readonly locks: Pick<Locks, "withLock">;
  readonly managedRoot: string;
  readonly trash: Trash;
  /** The user's word on ignored files in the worktree with this marker. */
  readonly ignoredRule: (owner: WorktreeOwner) => Promise<IgnoredRule>;
  /** For one `git worktree add`. */
  readonly addTimeoutMs: number;
}

/** Where a session's worktree is now. */
export type Place =
  | Gone
  | Standing
  /** An interrupted removal left it in the trash. */
  | { readonly kind: "held"; readonly path: string; readonly tree: string; readonly owned: Owned }
  | Unreadable;

/** Nothing is at the path; git may still remember what was. */
export interface Gone {
  readonly kind: "gone";
  readonly path: string;
  readonly record: WorktreeRecord | undefined;
  /** Where a removal that judged it and was broken off left it; without one, somebody else took it from its place. */
  readonly going?: string;
}

/** It is there, or where an interrupted removal left it, but nobody can tell what is in it. */
export interface Unreadable {
  readonly kind: "unreadable";
  readonly path: string;
  /** Where its files are. */
  readonly tree: string;
  readonly cause: string;
}

export interface Standing {
  readonly kind: "standing";
  readonly path: string;
  readonly owned: Owned;
}

/** A record with this session's own marker. */
export interface Owned {
  readonly record: WorktreeRecord;
  readonly marker: Marker;
}

export interface Located {
  readonly repository: Repository | undefined;
  readonly place: Place;
}

/**
 * Finds a session's worktree and proves that it is this session's: below the managed root with links
 * resolved, registered in the recorded repository at this very path, with this session's marker, and its
 * `.git` leading back to that record.
 *
 * `opened` is the repository when it was opened just now.
 *
 * @throws AoError workspace_unsafe_path when anything else is there.
 */
export async function locate(context: Context, ref: WorkspaceRef, opened?: Repository): Promise<Located> {
  const located = await locateOnce(context, ref, opened);
  const { repository, place } = located;
  // A removal under way moves it on while we look from one place to the next.
  const isMissing = place.kind === "gone" && place.record !== undefined && place.going === undefined;
  return isMissing ? locateOnce(context, ref, repository) : located;
}

async function locateOnce(context: Context, ref: WorkspaceRef, opened?: Repository): Promise<Located> {
  const path = await resolveInside(context.managedRoot, ref.path);
  const there = await lookAt(path);
  const isMissing = there === "nothing" || there === "empty folder";
  const repository = opened ?? (await repositoryOf(context.git, ref.repositoryPath));
  if (repository === undefined) {
    return { repository, place: await placeWithoutRepository(context, ref, { path, isMissing }) };
  }
  if (path === repository.path) throw unsafePath(path, "it is the repository's main working tree");
  const record = await findRecord(repository.commonDir, path);
  const place = isMissing
    ? await placeOfMissing(context, { ref, path, repository, record })
    : await placeOfThere(ref, path, record);
  return { repository, place };
}

/** Where the files of what is at a place are. */
export function treeOf(place: Exclude<Place, { readonly kind: "gone" }>): string {
  return place.kind === "standing" ? place.path : place.tree;
}

async function placeWithoutRepository(
  { trash }: Context,
  { sessionId, repositoryPath }: WorkspaceRef,
  { path, isMissing }: { readonly path: string; readonly isMissing: boolean },
): Promise<Place> {
  const cause = `its repository ${repositoryPath} cannot be opened`;
  if (!isMissing) return { kind: "unreadable", path, tree: path, cause };
  const held = await findHeld(trash, sessionId);
  return held === undefined ? { kind: "gone", path, record: undefined } : lostIn(held, path, cause);
}

/** What an interrupted removal moved aside and nobody can judge any more may be somebody's work. */
function lostIn(tree: string, path: string, why: string): Unreadable {
  const cause = `what a removal that was broken off left at ${tree}: ${why}`;
  return { kind: "unreadable", path, tree, cause };
}

/** `undefined` when it is gone or git refuses it; a git that cannot be asked is an error as ever. */
async function repositoryOf(git: Git, path: string): Promise<Repository | undefined> {
  try {
    return await openRepository(git, path);
  } catch (error) {
    if (isAoError(error, "git_failed")) return undefined;
    throw error;
  }
}

type Entry = "nothing" | "empty folder" | "folder" | "something else";

async function lookAt(path: string): Promise<Entry> {
  const entry = await entryAt(path);
  if (entry === undefined) return "nothing";
  if (!entry.isDirectory()) return "something else";
  const names = await readdir(path).catch(() => ["unreadable"]);
  return names.length === 0 ? "empty folder" : "folder";
}

interface Missing {
  readonly ref: WorkspaceRef;
  readonly path: string;
  readonly repository: Repository;
  readonly record: WorktreeRecord | undefined;
}

async function placeOfMissing(context: Context, { ref, path, repository, record }: Missing): Promise<Place> {
  const marker = record === undefined ? undefined : await readMarker(record.gitDir);
  const held = await findHeld(context.trash, ref.sessionId);
  if (held !== undefined) {
    if (record === undefined) return lostIn(held, path, "git has no record of it any more");
    if (marker?.sessionId !== ref.sessionId) return lostIn(held, path, "its mark is gone");
    return { kind: "held", path, tree: held, owned: { record, marker } };
  }
  if (record === undefined) {
    await refuseMoved(context, ref, repository);
    return { kind: "gone", path, record };
  }
  const going = marker && (await findGoing(context.trash, marker));
  if (going !== undefined) return { kind: "gone", path, record, going };
  await refuseRenamed(ref, path, record);
  return { kind: "gone", path, record };
}

/** A person renamed its folder, which git has not noticed. Where else one was moved to nobody can tell. */
async function refuseRenamed(ref: WorkspaceRef, path: string, record: WorktreeRecord): Promise<void> {
  const folder = dirname(path);
  for (const name of await namesAt(folder)) {
    const link = await readGitLink(join(folder, name));
    const isSame = link.kind === "link" && link.gitDir === record.gitDir;
    if (isSame) throw movedTo(ref, join(folder, name), "mv");
  }
}

/** A person moved it with `git worktree move`: it is theirs now. */
async function refuseMoved(context: Context, ref: WorkspaceRef, repository: Repository): Promise<void> {
  for (const record of await listRecords(repository.commonDir)) {
    const marker = await readMarker(record.gitDir);
    const isSame = marker?.sessionId === ref.sessionId && marker.managedRoot === context.managedRoot;
    if (isSame) throw movedTo(ref, record.path, `git -C ${shellQuoted(repository.path)} worktree move`);
  }
}

/** With what moves it back. */
function movedTo({ path }: WorkspaceRef, there: string, command: string): AoError {
  return new AoError("workspace_unsafe_path", `${path} is not touched: it was moved to ${there}`, {
    hint: `${command} ${shellQuoted(there)} ${shellQuoted(path)}`,
    details: { path, movedTo: there },
  });
}

async function placeOfThere(
  ref: WorkspaceRef,
  path: string,
  record: WorktreeRecord | undefined,
): Promise<Place> {
  if (record === undefined) throw unsafePath(path, `it is no worktree of ${ref.repositoryPath}`);
  const marker = await readMarker(record.gitDir);
  if (marker?.sessionId !== ref.sessionId) throw unsafePath(path, `it is not the one of ${ref.sessionId}`);
  const link = await readGitLink(path);
  switch (link.kind) {
    case "broken":
      return { kind: "unreadable", path, tree: path, cause: link.cause };
    case "repository":
      throw unsafePath(path, "another repository is there");
    case "link":
      if (link.gitDir !== record.gitDir) throw unsafePath(path, "a worktree of another repository is there");
      return { kind: "standing", path, owned: { record, marker } };
  }
}
