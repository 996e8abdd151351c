import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { expect } from "vitest";
import { sqliteStore } from "../../src/adapters/sqlite/store.ts";
import { jsonMembers } from "../../src/domain/canonical-json.ts";
import { isTerminal } from "../../src/domain/lifecycle.ts";
import type { Operation } from "../../src/domain/operation.ts";
import type { SessionRecord } from "../../src/domain/session.ts";
import { isSpareName } from "../../src/domain/spare-name.ts";
import type { ChangeLog } from "../../src/ports/change-log.ts";
import { type Ao, git } from "./ao.ts";

/** All that commands could have left, read without asking `ao`. */
export interface Everything {
  readonly rows: readonly SessionRecord[];
  readonly unfinished: readonly Operation[];
  /** Ids of the registered projects. */
  readonly projects: readonly string[];
  readonly lastSequence: number;
  /** Of tmux, each with whether its agent is dead. */
  readonly sessions: readonly string[];
  /** Paths that git knows, the repository itself excepted. */
  readonly worktrees: readonly string[];
  /** Those that were made ahead, as paths; they are not among `worktrees` and `folders`. */
  readonly spares: readonly string[];
  /** Folders below the managed root, as paths. */
  readonly folders: readonly string[];
  readonly branches: readonly string[];
  /** Salvages of sessions without a row, by the word of the operation that made each. */
  readonly salvagesOfNobody: readonly string[];
  /** Folders of launches, as `<session>/<launch>`; one of a session that is empty as its path. */
  readonly launches: readonly string[];
  /** Locks of git and of ao that somebody holds, drafts, trash, and whatever else of the data directory is nobody's. */
  readonly litter: readonly string[];
}

/** Reads everything there is in a sandbox with one repository. */
function everythingIn(ao: Ao, repository: string): Everything {
  const store = sqliteStore({ path: join(ao.dataDir, "ao.db") });
  const panes = ao.tmux("list-panes", "-a", "-F", "#{session_name} #{pane_dead}");
  const known = git(repository, "worktree", "list", "--porcelain").split("\n");
  const worktrees = known
    .filter((line) => line.startsWith("worktree "))
    .map((line) => line.slice("worktree ".length))
    .filter((path) => path !== repository)
    .sort();
  try {
    const { operations, unreadable } = store.operations.unfinished();
    if (unreadable.length > 0) throw new Error(`unreadable operations: ${JSON.stringify(unreadable)}`);
    // What a row reads later than it was asked for is read now.
    const rows = structuredClone(store.sessions.list());
    return {
      rows,
      unfinished: operations,
      projects: store.sessions.projects().map(({ id }) => id),
      lastSequence: store.changes.last(),
      sessions: panes.split("\n").filter(Boolean).sort(),
      worktrees: worktrees.filter((path) => !isSpare(path)),
      spares: worktrees.filter(isSpare),
      folders: below(join(ao.dataDir, "worktrees"), 2).filter(
        (path) => !worktrees.some((one) => one === path && isSpare(one)),
      ),
      branches: git(repository, "for-each-ref", "--format=%(refname)").split("\n").sort(),
      salvagesOfNobody: rescuedIn(store.changes),
      launches: launchesIn(join(ao.dataDir, "launch")),
      litter: litterIn(ao, repository, rows).filter((path) => !isForkInDoubt(path, store.changes)),
    };
  } finally {
    store.sessions.close();
  }
}

const isSpare = (path: string): boolean => isSpareName(basename(path));

function below(folder: string, depth: number): readonly string[] {
  if (depth === 0) return [folder];
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names.flatMap((name) => below(join(folder, name), depth - 1)).sort();
}

function launchesIn(folder: string): readonly string[] {
  return below(folder, 1).flatMap((session) => {
    const launches = readdirSync(session);
    return launches.length === 0 ? [session] : launches.map((launch) => `${basename(session)}/${launch}`);
  });
}

function filesIn(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => !entry.isDirectory())
    .map(({ parentPath, name }) => join(parentPath, name));
}

/**
 * What a data directory has whatever happens: the store, locks that nobody holds, tmux's last server, files of
 * freed worktrees until the next reconcile, and for 14 days what was said before a fork that came to nothing.
 */
const ALWAYS =
  /^(ao\.db(-wal|-shm)?|locks\/[0-9a-f]{32}|runtime\/tmux-server\.json|trash\/[^/]+\.gone\/.*|transcripts\/audit\.jsonl|trash\/transcripts\/.*)$/;

function litterIn(
  { dataDir, root }: Ao,
  repository: string,
  rows: readonly SessionRecord[],
): readonly string[] {
  const gitDir = filesIn(join(repository, ".git"));
  const ours = filesIn(dataDir).map((path) => relative(dataDir, path));
  return [
    ...gitDir.filter((path) => /\.lock$|\/worktrees\/[^/]+\/locked$|\.new$/.test(path)),
    ...ours.filter((path) => !ALWAYS.test(path) && !isOwned(path, dataDir, rows)),
    ...filesIn(join(root, "tmp")),
  ].sort();
}

/** Worktrees, launch files, transcripts, conversations and hook events of sessions that have a row. */
function isOwned(path: string, dataDir: string, rows: readonly SessionRecord[]): boolean {
  const [folder, first, second = ""] = path.split("/");
  switch (folder) {
    case "worktrees":
      return isSpareName(second) || rows.some(({ id }) => id === second);
    case "launch":
      return rows.some(({ id, metadata }) => id === first && metadata.launchId === second);
    case "transcripts":
      return rows.some(({ id, metadata }) => {
        const inherits = metadata.fork?.inherits ?? [];
        return second.startsWith(`${id}.`) || inherits.some(({ name }) => path.includes(`/forks/${name}.`));
      });
    case "embedded":
      return rows.some(({ metadata }) => conversationsOf(metadata).includes(first ?? ""));
    case "inbox": {
      const sender = /^session (.*)$/m.exec(readFileSync(join(dataDir, path), "utf8"))?.[1];
      return first === "new" && rows.some(({ id }) => id === sender);
    }
    default:
      return false;
  }
}

/** The salvages of worktrees of nobody. */
function rescuedIn(changes: ChangeLog): readonly string[] {
  const ended = changes.after(0, 10_000).filter(({ type }) => type === "operation.completed");
  const refs = ended.map(({ data }) => jsonMembers(jsonMembers(data)?.["result"] ?? null)?.["salvageRef"]);
  return refs.filter((ref) => typeof ref === "string");
}

/** The conversation that an agent made, or may have made, for a fork that failed: on record, and not ours to delete. */
function isForkInDoubt(path: string, changes: ChangeLog): boolean {
  const failed = changes.after(0, 10_000).filter(({ type }) => type === "operation.failed");
  const ids = failed.map(
    ({ data }) => jsonMembers(jsonMembers(data)?.["result"] ?? null)?.["agentSessionId"],
  );
  return ids.some((id) => typeof id === "string" && path === `embedded/${id}.jsonl`);
}

function conversationsOf({ agentSessionId, previousAgentSessionIds }: SessionRecord["metadata"]) {
  return [agentSessionId, ...previousAgentSessionIds].map((id) => `${id}.jsonl`);
}

/**
 * Nothing is there that nobody owns but branches below `kept/`, which are a person's own; nothing is missing
 * that somebody does, and nothing is half done.
 */
export function expectSound(ao: Ao, repository: string): Everything {
  const all = everythingIn(ao, repository);
  const live = all.rows.filter(({ lifecycle }) => !isTerminal(lifecycle));
  const standing = all.rows.filter(({ metadata }) => metadata.workspaceFreedAtMs === null);
  const paths = standing.map(({ metadata }) => metadata.workspacePath).sort();
  const branches = all.rows.map(({ metadata }) => `refs/heads/${metadata.branch}`);
  expect(all.unfinished).toEqual([]);
  const used = new Set<string>(all.rows.map(({ projectId }) => projectId));
  expect(all.projects.filter((id) => !used.has(id))).toEqual([]);
  expect(all.sessions).toEqual(live.map(({ id }) => `${id} 0`).sort());
  expect(all.worktrees).toEqual(paths);
  expect(all.folders).toEqual(paths);
  const isOwn = (branch: string) =>
    branch.startsWith("refs/heads/kept/") ||
    // The number of a salvage that was dropped, which no other work gets.
    branch.startsWith("refs/ao/salvage-dropped/") ||
    all.salvagesOfNobody.includes(branch) ||
    all.rows.some(({ id }) => new RegExp(`^refs/ao/(checkpoints|salvage)/${id}/`).test(branch));
  expect(all.branches.filter((branch) => !isOwn(branch))).toEqual(
    [...new Set(["refs/heads/main", ...branches.filter((branch) => !isOwn(branch))])].sort(),
  );
  const ofLive = new Set(live.map(({ id, metadata }) => `${id}/${metadata.launchId}`));
  expect(all.launches.filter((launch) => !ofLive.has(launch))).toEqual([]);
  expect(all.litter).toEqual([]);
  return all;
}
