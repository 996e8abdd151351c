import type { SessionId, TurnId } from "../../domain/ids.ts";
import type { SessionRecord } from "../../domain/session.ts";
import type { Turn } from "../../domain/turn.ts";
import type { OnStep, SessionDeps } from "../deps.ts";
import { recoverOperations } from "../recovery/recover-operations.ts";
import { requireSession } from "../session-refs.ts";
import { changeFiles } from "./change-files.ts";
import { requireResting } from "./require-resting.ts";
import { checkpointOf, finishRewind, type RewindResult, refuseUnknownTurn } from "./rewind-steps.ts";

export interface RewindOptions {
  readonly turnId: TurnId;
  readonly onStep?: OnStep;
}

/**
 * Makes the files of a resting session those that it had at the end of a turn; its branch and index stay. What was
 * there is kept first.
 *
 * @throws AoError session_not_found, turn_not_found, checkpoint_not_found, workspace_freed, busy
 * @throws AoError operation_in_progress when another operation of it is under way.
 * @throws AoError as `Snapshots.salvage` and `Snapshots.rewind`; the files are as they were then.
 */
export async function rewindSession(
  deps: SessionDeps,
  id: SessionId,
  { turnId, onStep }: RewindOptions,
): Promise<RewindResult> {
  const known = turnOf(deps, requireSession(deps, id), turnId);
  await recoverOperations(deps);
  refuseUnknownTurn(deps, requireSession(deps, id), turnId);
  const record = await requireResting(deps, id);
  // Of a turn that ended just now they are kept by the look that found it resting.
  checkpointOf(deps, record, turnId);
  const result = await changeFiles(deps, record, {
    intent: { kind: "rewind", input: { turnId } },
    finish: (held) => finishRewind(deps, held, onStep),
  });
  const isOwnLook = (known?.checkpoints.end ?? null) === null;
  return isOwnLook && result.warnings.length === 0 ? { ...result, warnings: [ownLook(turnId)] } : result;
}

/** Such a rewind changes nothing. */
function ownLook(turnId: TurnId): string {
  return `nobody had looked at the files of turn ${turnId} before, so they are what was there just now`;
}

function turnOf({ turns }: SessionDeps, { id, projectId }: SessionRecord, turnId: TurnId): Turn | undefined {
  return turns.get({ projectId, sessionId: id, turnId });
}
