import { assertNever } from "../../domain/assert-never.ts";
import { AoError } from "../../domain/errors.ts";
import { isoTime } from "../../domain/iso-time.ts";
import type { Operation, OperationOwner, OperationState } from "../../domain/operation.ts";
import { printable } from "../../domain/printable.ts";

/** Why nothing was done: another operation is in the way, or another process carried this one on. */
export function operationInProgress(operation: Operation): AoError {
  const { id, kind, sessionId, state, lastError } = operation;
  const subject = sessionId === null ? `${kind} ${id}` : `the ${kind} of session ${sessionId}`;
  return new AoError("operation_in_progress", `${subject} ${whatOf(state, lastError)}`, {
    hint: hintOf(operation),
    details: { operationId: id, kind, sessionId, state: state.kind, holder: holderOf(state) },
  });
}

/** The request was made before and asked for something else. */
export function requestConflict({ id, kind, sessionId, subject }: Operation): AoError {
  const message = `request ${printable(subject)} was made before for another ${kind}`;
  return new AoError("request_conflict", message, {
    hint: "repeat it with the same arguments, or give it another request id",
    details: { operationId: id, kind, sessionId, subject },
  });
}

function whatOf(state: OperationState, lastError: string | null): string {
  switch (state.kind) {
    case "leased":
      return `is under way: ${ownerText(state.owner)}`;
    case "prepared":
      return `is to be tried again from ${isoTime(state.nextAttemptAtMs)}${lastTime(lastError)}`;
    case "completed":
    case "failed":
      return "was finished by another process";
    default:
      return assertNever(state);
  }
}

function lastTime(error: string | null): string {
  return error === null ? "" : `; last time: ${printable(error)}`;
}

function ownerText({ process, command, sinceMs }: OperationOwner): string {
  return `process ${process.pid} (${printable(command)}) since ${isoTime(sinceMs)}`;
}

function hintOf({ sessionId, state }: Operation): string {
  switch (state.kind) {
    case "leased":
      return `wait until process ${state.owner.process.pid} has ended, then try again`;
    case "prepared":
      return "from then on: the same command again, or ao reconcile";
    case "completed":
    case "failed":
      return sessionId === null ? "ao list" : `ao show ${sessionId}`;
    default:
      return assertNever(state);
  }
}

function holderOf(state: OperationState): unknown {
  if (state.kind !== "leased") return null;
  const { process, command, sinceMs } = state.owner;
  return { pid: process.pid, command, since: isoTime(sinceMs) };
}
