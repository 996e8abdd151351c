import { parseProjectId, parseSessionId } from "../../domain/ids.ts";
import { isTimeMs } from "../../domain/iso-time.ts";
import {
  type CompletedState,
  type FailedState,
  type LeasedState,
  OPERATION_KINDS,
  type Operation,
  type OperationError,
  type OperationOwner,
  type OperationState,
  type PreparedState,
  parseOperationId,
} from "../../domain/operation.ts";
import type { ProcessIdentity } from "../../domain/session.ts";
import { type Check, check, nullable, number, oneOf, parsedBy, shape, text } from "./shape.ts";

const time = check((value) => typeof value === "number" && isTimeMs(value));
/** What `parseJson` could not read is `undefined`. */
const json = check((value) => value !== undefined);

const owner = shape<OperationOwner>({
  process: shape<ProcessIdentity>({ pid: number, startTime: text, bootId: text }),
  command: text,
  sinceMs: time,
});

const BY_KIND: { readonly [Kind in OperationState["kind"]]: Check } = {
  prepared: shape<PreparedState>({ kind: text, nextAttemptAtMs: time }),
  leased: shape<LeasedState>({ kind: text, token: text, owner, expiresAtMs: time }),
  completed: shape<CompletedState>({ kind: text, result: json, completedAtMs: time }),
  failed: shape<FailedState>({
    kind: text,
    error: shape<OperationError>({ code: text, message: text }),
    result: json,
  }),
};

const stateKind = shape<Pick<OperationState, "kind">>({ kind: oneOf(Object.keys(BY_KIND)) });

const state: Check = (value) => stateKind(value) ?? BY_KIND[(value as OperationState).kind](value);

/** Everything a stored operation must have. */
export const operationShape = shape<Operation>({
  id: parsedBy(parseOperationId),
  kind: oneOf(OPERATION_KINDS),
  projectId: parsedBy(parseProjectId),
  sessionId: nullable(parsedBy(parseSessionId)),
  subject: text,
  input: json,
  progress: json,
  state,
  attempt: number,
  version: number,
  lastError: nullable(text),
  createdAtMs: time,
  updatedAtMs: time,
});
