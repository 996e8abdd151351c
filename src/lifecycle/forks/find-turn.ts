import { AoError } from "../../domain/errors.ts";
import type { SessionId, TurnId } from "../../domain/ids.ts";
import type { SessionRecord } from "../../domain/session.ts";
import { isSettledTurn, type SettledTurn, type Turn, type TurnCheckpoint } from "../../domain/turn.ts";
import type { SessionDeps } from "../deps.ts";
import { requireSession } from "../session-refs.ts";

/** Among which the last settled turn is looked for: all but one of a session are settled. */
const NEWEST = 10;

/** A turn through which a session can be forked, and the session that worked on it. */
export interface ForkTurn {
  readonly owner: SessionRecord;
  readonly turn: SettledTurn;
  /** The files at its end. */
  readonly checkpoint: TurnCheckpoint;
}

type Deps = Pick<SessionDeps, "store" | "turns">;

/**
 * The settled turn of a session with its checkpoint, also one of the past that it was forked with; the last one
 * when `turnId` is `null`.
 *
 * @throws AoError turn_not_found, turn_not_settled, checkpoint_not_found
 */
export function findForkTurn(deps: Deps, source: SessionRecord, turnId: TurnId | null): ForkTurn {
  const found = turnId === null ? lastSettled(deps, source) : turnOf(deps, source, turnId);
  if (found === undefined) throw noTurn(source, turnId);
  const { owner, turn } = found;
  if (!isSettledTurn(turn)) {
    throw new AoError("turn_not_settled", `turn ${turn.turnId} of ${owner.id} goes on (${turn.state.kind})`, {
      hint: `wait for its end, or fork an earlier one: ao turns ${source.id}`,
      details: { turnId: turn.turnId, phase: turn.state.kind },
    });
  }
  const checkpoint = turn.checkpoints.end;
  if (checkpoint !== null) return { owner, turn, checkpoint };
  throw new AoError("checkpoint_not_found", `the files at the end of turn ${turn.turnId} were not kept`, {
    hint: `ao turns ${source.id}`,
    details: { turnId: turn.turnId },
  });
}

function noTurn({ id }: SessionRecord, turnId: TurnId | null): AoError {
  const what = turnId === null ? "no turn that is over" : `no turn ${turnId}`;
  return new AoError("turn_not_found", `session ${id} has ${what}`, { hint: `ao turns ${id}` });
}

interface Found {
  readonly owner: SessionRecord;
  readonly turn: Turn;
}

/** Of the session itself, or of those it comes from, up to where it left each. */
function turnOf(deps: Deps, source: SessionRecord, turnId: TurnId): Found | undefined {
  for (const { owner, through } of pastOf(deps, source)) {
    const turn = deps.turns.get({ projectId: owner.projectId, sessionId: owner.id, turnId });
    if (turn !== undefined && turn.sequence <= through) return { owner, turn };
  }
  return undefined;
}

function lastSettled(deps: Deps, source: SessionRecord): Found | undefined {
  for (const { owner, through } of pastOf(deps, source)) {
    const { turns } = deps.turns.ofSession(owner.id, Number.isFinite(through) ? 1000 : NEWEST);
    const turn = turns.find((one) => isSettledTurn(one) && one.sequence <= through);
    if (turn !== undefined) return { owner, turn };
  }
  return undefined;
}

/** A session of the past, and the sequence number of the last of its turns that belongs to it. */
interface Past {
  readonly owner: SessionRecord;
  readonly through: number;
}

/** The session and those it comes from, the nearest first; one without a row ends the line. */
function pastOf(deps: Deps, source: SessionRecord): readonly Past[] {
  const line: Past[] = [{ owner: source, through: Number.POSITIVE_INFINITY }];
  const seen = new Set<SessionId>([source.id]);
  for (let origin = source.metadata.fork; origin !== undefined; ) {
    const owner = deps.store.get(origin.turnOf);
    if (owner === undefined || seen.has(owner.id)) return line;
    seen.add(owner.id);
    const key = { projectId: owner.projectId, sessionId: owner.id, turnId: origin.turnId };
    line.push({ owner, through: deps.turns.get(key)?.sequence ?? 0 });
    origin = owner.metadata.fork;
  }
  return line;
}

/** The same turn again, as a recovery has to find it. `undefined` when any of it is gone. */
export function sameForkTurn(deps: Deps, sessionId: SessionId, turnId: TurnId): ForkTurn | undefined {
  const owner = requireSession(deps, sessionId);
  const turn = deps.turns.get({ projectId: owner.projectId, sessionId, turnId });
  const checkpoint = turn?.checkpoints.end ?? null;
  if (turn === undefined || checkpoint === null || !isSettledTurn(turn)) return undefined;
  return { owner, turn, checkpoint };
}
