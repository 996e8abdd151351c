import { AoError, isAoError } from "../../domain/errors.ts";
import type { SessionId } from "../../domain/ids.ts";
import type { SessionRecord } from "../../domain/session.ts";
import { shellQuoted } from "../../domain/shell-quoted.ts";
import type { Conflict } from "../../ports/snapshots.ts";
import type { SessionDeps } from "../deps.ts";
import { recoverOperations } from "../recovery/recover-operations.ts";
import { changeFiles } from "./change-files.ts";
import { type FoundSalvage, findSalvage } from "./find-salvage.ts";
import { finishPutBack, type PutBackResult } from "./put-back-steps.ts";
import { requireResting } from "./require-resting.ts";

/**
 * Puts a salvage back into the worktree of its session, or of the one that is given, which has to rest.
 *
 * @throws AoError salvage_not_found, also when the session is of another repository
 * @throws AoError session_not_found, workspace_freed, busy, operation_in_progress
 * @throws AoError as `Snapshots.putBack`.
 */
export async function putBackSession(
  deps: SessionDeps,
  name: string,
  into: SessionId | null = null,
): Promise<PutBackResult> {
  await recoverOperations(deps);
  const found = await findSalvage(deps, name);
  const { ref } = found;
  if (into === null) requireOwner(deps, found);
  const record = await requireResting(deps, into ?? found.sessionId);
  requireSameRepository(record, found);
  const putBack = changeFiles(deps, record, {
    intent: { kind: "put_back", input: { ref } },
    finish: (held) => finishPutBack(deps, held),
  });
  return putBack.catch((error: unknown) => {
    throw isAoError(error, "salvage_conflict") ? withAdvice(error, { found, into: record.id }) : error;
  });
}

/** What is in the way of files can be kept aside as well; a branch that went on stays where it is. */
function withAdvice(
  error: AoError,
  { found, into }: { readonly found: FoundSalvage; readonly into: SessionId },
): AoError {
  if (error.hint !== null) return error;
  const name = `${found.sessionId}/${found.number}`;
  const target = into === found.sessionId ? "" : ` --into ${into}`;
  const aside = `ao kill ${into} --salvage, then ao restore ${into} --no-salvage, then ao salvage restore ${name}${target}`;
  const clear = `to put it into a clean worktree, what is there kept aside: ${aside}`;
  return new AoError("salvage_conflict", error.message, {
    hint: [`see what is kept: ao salvage show ${name}`, ...(isAtHead(error) ? [] : [clear])].join("; "),
    details: error.details,
    cause: error,
  });
}

function isAtHead({ details: { conflicts } }: AoError): boolean {
  return Array.isArray(conflicts) && conflicts.some((one: Conflict) => one.path === "HEAD");
}

/** The work of an orphan has no session. @throws AoError session_not_found with what to do */
function requireOwner({ store }: SessionDeps, { sessionId, number, head }: FoundSalvage): void {
  if (store.get(sessionId) !== undefined) return;
  const onBranch = head.kind === "branch" ? ` --branch ${shellQuoted(head.branch)}` : "";
  throw new AoError("session_not_found", `salvage ${sessionId}/${number} has no session any more`, {
    hint: `put it into another one at rest: ao spawn${onBranch}, then ao salvage restore ${sessionId}/${number} --into <session>`,
    details: { id: sessionId },
  });
}

function requireSameRepository({ id, metadata }: SessionRecord, { ref, repositoryPath }: FoundSalvage): void {
  if (metadata.repositoryPath === repositoryPath) return;
  const message = `${ref} is in ${repositoryPath}, session ${id} works in ${metadata.repositoryPath}`;
  throw new AoError("salvage_not_found", message, { hint: "name a session of that repository: ao list" });
}
