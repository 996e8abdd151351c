import {
  type LeasedOperation,
  type LeasedState,
  type Operation,
  type OperationId,
  type OperationOwner,
  type OperationState,
  type PreparedState,
  parseOperationId,
} from "../../src/domain/operation.ts";
import { aProcess, projectId, sessionId, T0_MS } from "./builders.ts";

/** The id of the n-th operation of a test. */
export function operationId(number = 1): OperationId {
  const id = parseOperationId(`00000000-0000-8000-8000-${String(number).padStart(12, "0")}`);
  if (id === undefined) throw new Error(`${number} makes no operation id`);
  return id;
}

/** Somebody who typed `ao kill app-1` at `T0_MS`. */
export function anOwner(overrides: Partial<OperationOwner> = {}): OperationOwner {
  return { process: aProcess(), command: "ao kill app-1", sinceMs: T0_MS, ...overrides };
}

/** A claim with token `token-1` that began at `T0_MS`. */
export function aLease(overrides: Partial<LeasedState> = {}): LeasedState {
  return { kind: "leased", token: "token-1", owner: anOwner(), expiresAtMs: T0_MS + 30_000, ...overrides };
}

/** What `anOperation` may be told: ids as plain text or number. */
export type OperationOverrides<State extends OperationState> = Partial<
  Omit<Operation<State>, "id" | "projectId" | "sessionId" | "state">
> & {
  readonly id?: number;
  readonly projectId?: string;
  readonly sessionId?: string | null;
};

/** The kill of session `app-1`, prepared at `T0_MS` and due at once. */
export function anOperation(
  overrides: OperationOverrides<PreparedState> & { readonly nextAttemptAtMs?: number } = {},
): Operation<PreparedState> {
  const { nextAttemptAtMs = T0_MS, ...rest } = overrides;
  return anOperationIn({ kind: "prepared", nextAttemptAtMs }, rest);
}

/** The same kill in its first attempt, held with token `token-1`. */
export function aLeasedOperation(overrides: OperationOverrides<LeasedState> = {}): LeasedOperation {
  return anOperationIn(aLease(), { version: 2, ...overrides });
}

/** The same kill in the state given, after one attempt unless it is prepared. */
export function anOperationIn<State extends OperationState>(
  state: State,
  overrides: OperationOverrides<State> = {},
): Operation<State> {
  const { id = 1, projectId: project = "app", sessionId: session = "app-1", ...rest } = overrides;
  const { createdAtMs = T0_MS } = rest;
  return {
    id: operationId(id),
    kind: "kill",
    projectId: projectId(project),
    sessionId: session === null ? null : sessionId(session),
    subject: "request-1",
    input: { reason: "manual" },
    progress: null,
    state,
    attempt: state.kind === "prepared" ? 0 : 1,
    version: 1,
    lastError: null,
    createdAtMs,
    updatedAtMs: createdAtMs,
    ...rest,
  };
}
