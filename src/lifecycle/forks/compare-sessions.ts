import { AoError } from "../../domain/errors.ts";
import type { FileChange } from "../../domain/file-change.ts";
import type { SessionId, TurnId } from "../../domain/ids.ts";
import type { SessionRecord } from "../../domain/session.ts";
import type { SessionDeps } from "../deps.ts";
import { requireSession, workspaceRef } from "../session-refs.ts";

/** What one of two sessions changed since they had the same files. */
export interface ComparedSession {
  readonly id: SessionId;
  /** By path. */
  readonly files: readonly FileChange[];
  /** `worktree`: as its files are now. `checkpoint`: as they were at the end of its last turn. */
  readonly source: "worktree" | "checkpoint";
}

export interface Comparison {
  /** The last turn that both have. */
  readonly base: { readonly sessionId: SessionId; readonly turnId: TurnId; readonly commit: string };
  readonly sessions: readonly [ComparedSession, ComparedSession];
  /** Paths that both changed, each with whether they are the same now. */
  readonly both: readonly { readonly path: string; readonly isSame: boolean }[];
}

type Deps = Pick<SessionDeps, "store" | "turns" | "snapshots">;

/** Among which the last checkpoint of a session without a worktree is looked for. */
const RECENT_TURNS = 50;

/**
 * What two sessions changed since their last common turn.
 *
 * @throws AoError session_not_found
 * @throws AoError not_related when neither comes from the other, nor both from a third one.
 * @throws AoError checkpoint_not_found, workspace_freed when the files of one are not to be had.
 */
export async function compareSessions(deps: Deps, one: SessionId, other: SessionId): Promise<Comparison> {
  const [left, right] = [requireSession(deps, one), requireSession(deps, other)];
  const base = commonBase(deps, left, right);
  const sessions = [await changesOf(deps, left, base), await changesOf(deps, right, base)] as const;
  return { base, sessions, both: inBoth(sessions) };
}

type Base = Comparison["base"];

function commonBase(deps: Deps, left: SessionRecord, right: SessionRecord): Base {
  const theirs = new Map(pointsOf(deps, right).map((point) => [point.sessionId, point]));
  for (const mine of pointsOf(deps, left)) {
    const met = theirs.get(mine.sessionId);
    const earlier = met === undefined ? undefined : [mine, met].toSorted(bySequence)[0];
    if (earlier?.base != null) return earlier.base;
  }
  throw new AoError("not_related", `${left.id} and ${right.id} have no turn in common`, {
    hint: left.id === right.id ? "name two sessions" : "ao list --tree --include-terminated",
  });
}

/** A session on the way back to the root, and how far it belongs to the past. */
interface Point {
  readonly sessionId: SessionId;
  readonly sequence: number;
  /** `null` for the session itself, all of which belongs to it. */
  readonly base: Base | null;
}

function bySequence(one: Point, other: Point): number {
  return one.sequence - other.sequence;
}

/** The nearest first. */
function pointsOf({ store, turns }: Deps, record: SessionRecord): readonly Point[] {
  const points: Point[] = [{ sessionId: record.id, sequence: Number.POSITIVE_INFINITY, base: null }];
  const seen = new Set([record.id]);
  for (let origin = record.metadata.fork; origin !== undefined && !seen.has(origin.turnOf); ) {
    const { turnOf: sessionId, turnId, checkpoint } = origin;
    seen.add(sessionId);
    const sequence = turns.get({ projectId: record.projectId, sessionId, turnId })?.sequence ?? 0;
    points.push({ sessionId, sequence, base: { sessionId, turnId, commit: checkpoint.commit } });
    origin = store.get(sessionId)?.metadata.fork;
  }
  return points;
}

async function changesOf(deps: Deps, record: SessionRecord, { commit }: Base): Promise<ComparedSession> {
  const { id, metadata } = record;
  const { snapshots } = deps;
  const now = { workspace: workspaceRef(record) };
  const files = await snapshots.changes(metadata.repositoryPath, { since: commit, now });
  if (files !== null) return { id, files, source: "worktree" };
  const last = lastCheckpoint(deps, record) ?? metadata.fork?.checkpoint.commit;
  if (last === undefined) {
    throw new AoError("workspace_freed", `the worktree of ${id} is gone, and no turn of it kept its files`, {
      hint: `ao restore ${id}`,
    });
  }
  const kept = await snapshots.changes(metadata.repositoryPath, { since: commit, now: { commit: last } });
  return { id, files: kept ?? [], source: "checkpoint" };
}

function lastCheckpoint({ turns }: Deps, { id }: SessionRecord): string | undefined {
  const { turns: newest } = turns.ofSession(id, RECENT_TURNS);
  return newest.find(({ checkpoints }) => checkpoints.end !== null)?.checkpoints.end?.commit;
}

function inBoth([left, right]: Comparison["sessions"]): Comparison["both"] {
  const theirs = new Map(right.files.map((file) => [file.path, file]));
  return left.files.flatMap((file) => {
    const other = theirs.get(file.path);
    return other === undefined ? [] : [{ path: file.path, isSame: other.content === file.content }];
  });
}
