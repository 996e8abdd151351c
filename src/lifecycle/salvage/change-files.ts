import type { JsonValue } from "../../domain/canonical-json.ts";
import { AoError, isAoError } from "../../domain/errors.ts";
import type { LeasedOperation, OperationKind } from "../../domain/operation.ts";
import type { SessionRecord } from "../../domain/session.ts";
import type { SessionDeps } from "../deps.ts";
import { beginOnce } from "../operations/begin-once.ts";
import { carryOut } from "../operations/carry-out.ts";
import { crossing } from "../operations/crossing.ts";
import { operationLedger } from "../operations/ledger.ts";
import { operationInProgress } from "../operations/operation-errors.ts";
import { requireSession } from "../session-refs.ts";
import { refuseWork } from "./require-resting.ts";

/** What an operation on the files of a session is to do. */
export interface FilesIntent {
  readonly kind: Extract<OperationKind, "rewind" | "put_back">;
  readonly input: JsonValue;
}

/**
 * Begins an operation on the files of a session and carries it out; nobody else's comes between, and no message is
 * delivered to its agent meanwhile.
 *
 * @throws AoError operation_in_progress; busy when its agent began to work; and what `finish` throws.
 */
export async function changeFiles<Result>(
  deps: SessionDeps,
  record: SessionRecord,
  { intent, finish }: { readonly intent: FilesIntent; finish(held: LeasedOperation): Promise<Result> },
): Promise<Result> {
  const { id, projectId } = record;
  const request = {
    ...{ projectId, sessionId: id, identifyingSessionId: id, subject: deps.ids.uuid(), progress: null },
    ...intent,
  };
  const begun = await beginOnce(deps, request, () => refuseWork(deps, id));
  if (begun.kind !== "begun") throw operationInProgress(begun.operation);
  return carryOut(deps, begun.operation, () => finish(begun.operation));
}

/** The session of an operation on files. @throws AoError internal when it names none. */
export function sessionOfFiles(deps: SessionDeps, { id, sessionId }: LeasedOperation): SessionRecord {
  if (sessionId !== null) return requireSession(deps, sessionId);
  throw new AoError("internal", `operation ${id} names no session`);
}

/** What another try would meet as well. */
const LASTING = [
  "salvage_conflict",
  "salvage_not_found",
  "checkpoint_not_found",
  "workspace_dirty",
  "workspace_unsafe_path",
  "session_not_found",
] as const;

/**
 * Carries such an operation on that its process left. One that cannot be carried on ends; what was kept stays kept.
 *
 * @throws what may pass; it is tried again then.
 */
export async function recoverFiles(
  deps: SessionDeps,
  held: LeasedOperation,
  finish: () => Promise<unknown>,
): Promise<void> {
  try {
    await finish();
  } catch (error) {
    const lasting = LASTING.find((code) => isAoError(error, code));
    if (lasting === undefined || !isAoError(error)) throw error;
    const failure = { error: { code: lasting, message: error.message }, result: held.progress };
    await crossing(deps, `${held.kind}.fail`, () => operationLedger(deps).fail(held, failure));
  }
}
