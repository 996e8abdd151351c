import { jsonMembers } from "../../domain/canonical-json.ts";
import { AoError } from "../../domain/errors.ts";
import { parseTurnId, type SessionId, type TurnId } from "../../domain/ids.ts";
import { keptLate } from "../../domain/kept-late.ts";
import type { LeasedOperation } from "../../domain/operation.ts";
import type { SessionRecord } from "../../domain/session.ts";
import type { Turn } from "../../domain/turn.ts";
import type { OnStep, SessionDeps } from "../deps.ts";
import { crossing } from "../operations/crossing.ts";
import { fenceOf } from "../operations/fence-of.ts";
import { operationLedger } from "../operations/ledger.ts";
import { requireOperation } from "../operations/write-operation.ts";
import { workspaceRef } from "../session-refs.ts";
import { sessionOfFiles } from "./change-files.ts";
import { salvageOf } from "./keep-and-free.ts";

export interface RewindResult {
  readonly id: SessionId;
  readonly turnId: TurnId;
  /** Holds what was there; `null` when the branch had all of it. */
  readonly salvageRef: string | null;
  /** Things a person should know that were no failure. */
  readonly warnings: readonly string[];
}

/** Everything of a rewind after its intent is on record. May be repeated. */
export async function finishRewind(
  deps: SessionDeps,
  held: LeasedOperation,
  onStep?: OnStep,
): Promise<RewindResult> {
  const record = sessionOfFiles(deps, held);
  const turnId = turnOf(held);
  const { checkpointRef, turn } = checkpointOf(deps, record, turnId);
  const workspace = workspaceRef(record);
  onStep?.("keeping work");
  const salvageRef = await keepOnce(deps, held, record);
  onStep?.("putting files back");
  const request = { workspace, checkpointRef, salvageRef, fence: fenceOf(deps, held) };
  await crossing(deps, "rewind.files", () => deps.snapshots.rewind(request));
  const late = keptLate(turn);
  const result = { id: record.id, turnId, salvageRef, warnings: late === null ? [] : [late] };
  await crossing(deps, "rewind.complete", () => operationLedger(deps).complete(held, result));
  return result;
}

/** Half-way through a rewind the files are not anybody's work any more. */
async function keepOnce(
  deps: SessionDeps,
  held: LeasedOperation,
  record: SessionRecord,
): Promise<string | null> {
  const { progress } = requireOperation(deps, held.id);
  if (progress !== null) return salvageOf({ progress });
  const asked = { workspace: workspaceRef(record), reason: "rewind", atMs: deps.clock.nowMs() } as const;
  const request = { ...asked, fence: fenceOf(deps, held) };
  const outcome = await crossing(deps, "rewind.salvage", () => deps.snapshots.salvage(request));
  const salvageRef = outcome.kind === "kept" ? outcome.ref : null;
  await crossing(deps, "rewind.salvaged", () => operationLedger(deps).checkpoint(held, { salvageRef }));
  return salvageRef;
}

function turnOf({ id, input }: LeasedOperation): TurnId {
  const turnId = parseTurnId(String(jsonMembers(input)?.["turnId"]));
  if (turnId !== undefined) return turnId;
  throw new AoError("store_corrupt", `operation ${id} cannot be read (input.turnId)`, { hint: "ao doctor" });
}

/** The checkpoint of a turn's end. @throws AoError turn_not_found, checkpoint_not_found */
export function checkpointOf(
  { turns }: SessionDeps,
  { id, projectId }: SessionRecord,
  turnId: TurnId,
): { readonly turn: Turn; readonly checkpointRef: string } {
  const turn = turns.get({ projectId, sessionId: id, turnId });
  if (turn === undefined) throw noSuchTurn(id, turnId);
  const checkpointRef = turn.checkpoints.end?.ref;
  if (checkpointRef !== undefined) return { turn, checkpointRef };
  throw new AoError("checkpoint_not_found", `the files at the end of turn ${turnId} were not kept`, {
    hint: `ao turns ${id}`,
  });
}

/** @throws AoError turn_not_found */
export function refuseUnknownTurn(
  { turns }: Pick<SessionDeps, "turns">,
  { id, projectId }: SessionRecord,
  turnId: TurnId,
): void {
  if (turns.get({ projectId, sessionId: id, turnId }) === undefined) throw noSuchTurn(id, turnId);
}

function noSuchTurn(id: SessionId, turnId: TurnId): AoError {
  return new AoError("turn_not_found", `session ${id} has no turn ${turnId}`, { hint: `ao turns ${id}` });
}
