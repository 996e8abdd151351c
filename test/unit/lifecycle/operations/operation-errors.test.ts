import { describe, expect, test } from "vitest";
import type { Operation } from "../../../../src/domain/operation.ts";
import {
  operationInProgress,
  requestConflict,
} from "../../../../src/lifecycle/operations/operation-errors.ts";
import { aProcess, T0_MS } from "../../../support/builders.ts";
import {
  aLease,
  aLeasedOperation,
  anOperation,
  anOperationIn,
  anOwner,
} from "../../../support/operations.ts";

const completed = anOperationIn({ kind: "completed", result: null, completedAtMs: T0_MS });

describe("operationInProgress", () => {
  test.each<[string, Operation, string, string]>([
    [
      "who holds it and since when",
      aLeasedOperation(),
      "the kill of session app-1 is under way: process 99000001 (ao kill app-1) since 2026-01-02T03:04:05.678Z",
      "wait until process 99000001 has ended, then try again",
    ],
    [
      "when it is tried again",
      anOperation({ kind: "restore", nextAttemptAtMs: T0_MS + 2_000 }),
      "the restore of session app-1 is to be tried again from 2026-01-02T03:04:07.678Z",
      "from then on: the same command again, or ao reconcile",
    ],
    [
      "that it is over",
      completed,
      "the kill of session app-1 was finished by another process",
      "ao show app-1",
    ],
  ])("says %s", (_what, operation, message, hint) => {
    expect(operationInProgress(operation)).toMatchObject({ code: "operation_in_progress", message, hint });
  });

  test("says it of an operation of no session, too", () => {
    const { id } = anOperation();
    expect(operationInProgress(anOperation({ sessionId: null, kind: "cleanup" })).message).toMatch(
      `cleanup ${id} is to be tried again`,
    );
    const over = anOperationIn(completed.state, { sessionId: null });
    expect(operationInProgress(over)).toMatchObject({
      message: `kill ${id} was finished by another process`,
      hint: "ao list",
    });
  });

  test("tells programs the same, and prints no control characters of a command", () => {
    const command = "ao kill \u001b[31mapp-1\n";
    const owner = anOwner({ process: aProcess({ pid: 7 }), command });
    const error = operationInProgress(anOperationIn(aLease({ owner })));
    expect(error.details).toEqual({
      operationId: anOperation().id,
      kind: "kill",
      sessionId: "app-1",
      state: "leased",
      holder: { pid: 7, command, since: "2026-01-02T03:04:05.678Z" },
    });
    expect(error.message).not.toMatch(/\p{Cc}/u);
  });
});

describe("requestConflict", () => {
  test("names the request and what it was for", () => {
    expect(requestConflict(anOperation({ subject: "nightly\n1" }))).toMatchObject({
      code: "request_conflict",
      message: expect.stringMatching(/^request nightly\P{Cc}+1 was made before for another kill$/u),
      hint: expect.any(String),
      details: { operationId: anOperation().id, kind: "kill", sessionId: "app-1", subject: "nightly\n1" },
    });
  });
});
