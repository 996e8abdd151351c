import type { JsonValue } from "./canonical-json.ts";
import type { ProjectId, SessionId } from "./ids.ts";
import type { ProcessIdentity } from "./session.ts";

/** Names one operation for ever: equal for equal project, session, kind, subject and generation. */
export type OperationId = string & { readonly __brand: "OperationId" };

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Parses an operation id, a UUID in lower case; `undefined` for anything else. */
export function parseOperationId(text: string): OperationId | undefined {
  return UUID.test(text) ? (text as OperationId) : undefined;
}

/**
 * The operation id of a digest, a UUID of version 8 (RFC 9562 §5.8): its first 128 bits but for the six that
 * tell version and variant.
 *
 * @param hex at least 32 hexadecimal digits in lower case
 * @throws Error when it is shorter or something else.
 */
export function operationIdOfDigest(hex: string): OperationId {
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 0x3) | 0x8).toString(16);
  const groups = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ];
  const id = parseOperationId(groups.join("-"));
  if (id === undefined) throw new Error(`not a digest of 128 bits: ${hex}`);
  return id;
}

export const OPERATION_KINDS = [
  "spawn",
  "kill",
  "restore",
  "cleanup",
  "cancel_turn",
  "rewind",
  "put_back",
  "fork",
  "goal_control",
  "goal_fence",
  "fill_pool",
] as const;
export type OperationKind = (typeof OPERATION_KINDS)[number];

/** These work while others do, and hold none up. */
const BESIDE_OTHERS: readonly OperationKind[] = ["cancel_turn", "goal_control", "goal_fence"];

/** Whether an operation has its session for itself. */
export function isExclusive(kind: OperationKind): boolean {
  return !BESIDE_OTHERS.includes(kind);
}

/** Who works on an operation. */
export interface OperationOwner {
  readonly process: ProcessIdentity;
  /** What it carries out, without any prompt or message: others are shown it. For example `ao kill app-1`. */
  readonly command: string;
  /** Since when it holds this operation, Unix milliseconds. */
  readonly sinceMs: number;
}

/** Waits to be worked on; nobody does. */
export interface PreparedState {
  readonly kind: "prepared";
  readonly nextAttemptAtMs: number;
}

/** Somebody works on it. */
export interface LeasedState {
  readonly kind: "leased";
  /** Fences this claim off from every other one, earlier claims of the same process included. */
  readonly token: string;
  readonly owner: OperationOwner;
  readonly expiresAtMs: number;
}

export interface CompletedState {
  readonly kind: "completed";
  readonly result: JsonValue;
  readonly completedAtMs: number;
}

/** Why an operation failed, as a code of `AoError` and a message. */
export interface OperationError {
  readonly code: string;
  readonly message: string;
}

/** It will not be tried again, and what it had done was undone or is told in `result`. */
export interface FailedState {
  readonly kind: "failed";
  readonly error: OperationError;
  readonly result: JsonValue;
}

export type OperationState = PreparedState | LeasedState | CompletedState | FailedState;

/** A durable intent with its progress, written before its first side effect. */
export interface Operation<State extends OperationState = OperationState> {
  readonly id: OperationId;
  readonly kind: OperationKind;
  readonly projectId: ProjectId;
  /** The session it works on; `null` when it is none's. */
  readonly sessionId: SessionId | null;
  /** What it is about, within kind, project and session; for example a request id or a turn. */
  readonly subject: string;
  /** What was asked. A repeat that asks for something else is a conflict. */
  readonly input: JsonValue;
  /** What the steps left behind, and what their undo needs. Never compared. */
  readonly progress: JsonValue;
  readonly state: State;
  /** Claims so far. */
  readonly attempt: number;
  /** From 1, and grows by one on every write of the row. */
  readonly version: number;
  /** Why the last attempt did not finish it; `null` while there is nothing to say. */
  readonly lastError: string | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** An operation that somebody holds. */
export type LeasedOperation = Operation<LeasedState>;
/** An operation that never changes any more. */
export type FinishedOperation = Operation<CompletedState | FailedState>;

/** Whether somebody holds it, the holder alive or not. */
export function isLeased(operation: Operation): operation is LeasedOperation {
  return operation.state.kind === "leased";
}

/** Whether it is over, well or not. */
export function isFinished(operation: Operation): operation is FinishedOperation {
  return operation.state.kind === "completed" || operation.state.kind === "failed";
}
