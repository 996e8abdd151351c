import { AoError } from "../../domain/errors.ts";
import type { ProjectId, SessionId } from "../../domain/ids.ts";
import {
  isExclusive,
  type LeasedOperation,
  type Operation,
  type OperationId,
  type OperationKind,
  type PreparedState,
} from "../../domain/operation.ts";
import { decidePrepare, type OperationRequest } from "../../domain/operation-prepare.ts";
import { takeNew } from "./claim-operation.ts";
import type { DomainChange } from "./hold-operation.ts";
import { insideTransaction } from "./inside-transaction.ts";
import type { LedgerDeps } from "./ledger-deps.ts";
import { logOperation } from "./log-operation.ts";

/** What tells one operation from all others, whoever asks for it and however often. */
export interface OperationIdentity {
  readonly kind: OperationKind;
  readonly projectId: ProjectId;
  /** `null` when the operation makes its session, whose id a repeat cannot know. */
  readonly identifyingSessionId: SessionId | null;
  /** For example a request id, or a turn. */
  readonly subject: string;
}

/** What is asked for. */
export interface PrepareRequest extends OperationIdentity, Pick<OperationRequest, "input" | "progress"> {
  /** The session that it works on, and on which it excludes every other operation. */
  readonly sessionId: SessionId | null;
}

type Refusal =
  /** It is there already, in whatever state. */
  | { readonly kind: "found"; readonly operation: Operation }
  /** It is there already and asked for something else. */
  | { readonly kind: "conflict"; readonly operation: Operation }
  /** Another operation of the session is unfinished. */
  | { readonly kind: "busy"; readonly operation: Operation };

export type PrepareOutcome =
  | { readonly kind: "created"; readonly operation: Operation<PreparedState> }
  | Refusal;
export type BeginOutcome = { readonly kind: "begun"; readonly operation: LeasedOperation } | Refusal;

/** The newest generation of an operation: one that failed is followed by another when it is asked for anew. */
export function findOperation(
  deps: Pick<LedgerDeps, "operations" | "ids">,
  identity: OperationIdentity,
): Operation | undefined {
  for (let generation = 1, newest: Operation | undefined; ; generation++) {
    const operation = deps.operations.get(idOf(deps, identity, generation));
    if (operation === undefined) return newest;
    newest = operation;
  }
}

/** Writes the intent, due now and held by nobody, unless there is one already or the session is busy. */
export function prepare(deps: LedgerDeps, request: PrepareRequest): PrepareOutcome {
  return deps.store.transaction(() => {
    const outcome = decide(deps, request);
    if (outcome.kind === "created") insert(deps, outcome.operation);
    return outcome;
  });
}

/**
 * As `prepare`, and holds what it created at once, so that no other process can begin with it; together with
 * `change`, as `complete`.
 */
export function begin(deps: LedgerDeps, request: PrepareRequest, change?: DomainChange): BeginOutcome {
  return deps.store.transaction(() => {
    const outcome = decide(deps, request);
    if (outcome.kind !== "created") return outcome;
    insert(deps, outcome.operation);
    const operation = takeNew(deps, outcome.operation);
    change?.(insideTransaction(deps.store));
    return { kind: "begun", operation };
  });
}

function decide(deps: LedgerDeps, request: PrepareRequest): PrepareOutcome {
  const { kind, projectId, sessionId, subject, input, progress } = request;
  const nowMs = deps.clock.nowMs();
  for (let generation = 1; ; generation++) {
    const id = idOf(deps, request, generation);
    const asked = { id, kind, projectId, sessionId, subject, input, progress };
    const decision = decidePrepare(deps.operations.get(id), asked, nowMs);
    if (decision.kind === "failed_before") continue;
    const mayBeHeldUp = decision.kind === "created" && isExclusive(kind);
    const holder = mayBeHeldUp ? unfinishedOf(deps, sessionId) : undefined;
    return holder === undefined ? decision : { kind: "busy", operation: holder };
  }
}

function idOf(
  { ids }: Pick<LedgerDeps, "ids">,
  identity: OperationIdentity,
  generation: number,
): OperationId {
  const { projectId, identifyingSessionId, kind, subject } = identity;
  const parts = [projectId, identifyingSessionId ?? "", kind, subject];
  return ids.operationId(generation === 1 ? parts : [...parts, String(generation)]);
}

/**
 * The one operation of a session that has it for itself and is not finished.
 *
 * @throws AoError store_corrupt when what is unfinished on that session cannot be read.
 */
export function unfinishedOf(
  { operations }: Pick<LedgerDeps, "operations">,
  sessionId: SessionId | null,
): Operation | undefined {
  if (sessionId === null) return undefined;
  const rows = operations.unfinished();
  const unreadable = rows.unreadable.find((row) => row.sessionId === sessionId);
  if (unreadable === undefined) {
    return rows.operations.find((row) => row.sessionId === sessionId && isExclusive(row.kind));
  }
  const { id, flaw } = unreadable;
  throw new AoError("store_corrupt", `operation ${id} of session ${sessionId} cannot be read (${flaw})`, {
    hint: "ao doctor",
    details: { operationId: id, sessionId, flaw },
  });
}

function insert(deps: LedgerDeps, operation: Operation<PreparedState>): void {
  if (!deps.operations.insert(operation)) {
    throw new AoError("internal", `operation id ${operation.id} is taken`);
  }
  logOperation(deps, operation);
}
