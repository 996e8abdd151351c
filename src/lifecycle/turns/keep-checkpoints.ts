import type { SessionRecord } from "../../domain/session.ts";
import type { Turn, TurnEdge } from "../../domain/turn.ts";
import type { BookChange } from "../../domain/turn-book.ts";
import type { SessionDeps } from "../deps.ts";
import { workspaceRef } from "../session-refs.ts";

export type CheckpointDeps = Pick<SessionDeps, "turns" | "checkpoints" | "clock">;

/**
 * Keeps the files at the ends of turns that were just recorded, as far as that can be done: a turn without a
 * checkpoint is a turn all the same. Never rejects for one that could not be taken.
 */
export async function keepCheckpoints(
  deps: CheckpointDeps,
  record: SessionRecord,
  changes: readonly BookChange[],
): Promise<void> {
  for (const change of changes) {
    if (change.kind !== "turn") continue;
    const edge = edgeOf(change.turn);
    if (edge !== null) await keepCheckpoint(deps, record, { turn: change.turn, edge });
  }
}

/** A repository that cannot be read for longer is not asked at each look. */
const RETRIED_MS = 10 * 60_000;

/**
 * Tries the files at the end of the newest turn again, while its agent rests and has had no other: they may be a
 * person's by then, which the time that is kept with them says. Never rejects.
 */
export async function retryCheckpoint(deps: CheckpointDeps, record: SessionRecord): Promise<void> {
  const turn = newestTurn(deps, record);
  if (turn?.state.kind !== "settled" || turn.checkpoints.end !== null) return;
  if (deps.clock.nowMs() - turn.state.atMs > RETRIED_MS) return;
  await keepCheckpoint(deps, record, { turn, edge: "end" });
}

/** A row that cannot be read is told by whoever needs it. */
function newestTurn({ turns }: CheckpointDeps, { id }: SessionRecord): Turn | undefined {
  try {
    return turns.newest(id);
  } catch {
    return undefined;
  }
}

/** As `keepCheckpoints`, of one end of one turn. */
export async function keepCheckpoint(
  { turns, checkpoints, clock }: CheckpointDeps,
  record: SessionRecord,
  { turn, edge }: { readonly turn: Turn; readonly edge: TurnEdge },
): Promise<void> {
  if (record.metadata.workspaceFreedAtMs !== null) return;
  const takenAtMs = clock.nowMs();
  const taken = await checkpoints.take(workspaceRef(record), turn.turnId, edge).catch(() => null);
  if (taken !== null) turns.keepCheckpoint(turn, edge, { ...taken, takenAtMs });
}

/** The start of a turn that was typed is kept before its keys are; else it is where the turn is first heard of. */
function edgeOf({ state, checkpoints }: Turn): TurnEdge | null {
  if (state.kind === "settled") return checkpoints.end === null ? "end" : null;
  return state.kind === "running" && checkpoints.start === null ? "start" : null;
}
