import type { LeasedOperation, Operation } from "../../domain/operation.ts";
import type { SessionDeps } from "../deps.ts";
import { operationLedger } from "../operations/ledger.ts";
import { isOfOrphan } from "../recovery/free-orphan.ts";

/**
 * Whether an unfinished operation may end so that a later command for its session takes its place: a kill or a
 * cleanup that nobody works on. One that is due was just tried, and could not be carried on.
 */
export function mayGiveWay({ kind, state, input, sessionId }: Operation): boolean {
  const isForward = kind === "kill" || (kind === "cleanup" && !isOfOrphan({ input }));
  return isForward && state.kind === "prepared" && sessionId !== null;
}

/**
 * Ends such an operation while the worktree of its session stands where it was: nothing of it is left then that its
 * successor would not do, or refuse, anew. Without that a failure that lasts would hold the session for ever.
 *
 * @returns false when it has to be carried on after all, or another process does.
 */
export async function giveWay(deps: SessionDeps, operation: Operation): Promise<boolean> {
  if (!mayGiveWay(operation)) return false;
  const ledger = operationLedger(deps);
  const claimed = await ledger.claim(operation.id, { evenIfNotDue: true });
  if (claimed.kind !== "claimed") return false;
  const held = claimed.operation;
  const message = operation.lastError ?? "it was broken off";
  if (await stands(deps, held)) {
    ledger.fail(held, { error: { code: "interrupted", message }, result: null });
    return true;
  }
  ledger.release(held, { lastError: message, isDueAtOnce: true });
  return false;
}

async function stands({ store, files }: SessionDeps, { sessionId }: LeasedOperation): Promise<boolean> {
  const metadata = sessionId === null ? undefined : store.get(sessionId)?.metadata;
  if (metadata === undefined || metadata.workspaceFreedAtMs !== null) return false;
  return metadata.workspacePath !== "" && (await files.exists(metadata.workspacePath));
}
