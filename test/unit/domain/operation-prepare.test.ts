import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Operation } from "../../../src/domain/operation.ts";
import { decidePrepare, type OperationRequest } from "../../../src/domain/operation-prepare.ts";
import { projectId, sessionId, T0_MS } from "../../support/builders.ts";
import { aLeasedOperation, anOperation, anOperationIn, operationId } from "../../support/operations.ts";

function aRequest(overrides: Partial<OperationRequest> = {}): OperationRequest {
  return {
    id: operationId(),
    kind: "kill",
    projectId: projectId("app"),
    sessionId: sessionId("app-1"),
    subject: "request-1",
    input: { reason: "manual" },
    progress: null,
    ...overrides,
  };
}

const completed = anOperationIn({ kind: "completed", result: "done", completedAtMs: T0_MS });
const failed = anOperationIn({ kind: "failed", error: { code: "git_failed", message: "no" }, result: null });

describe("decidePrepare", () => {
  test("what is not there is prepared, due now, and was never tried", () => {
    expect(decidePrepare(undefined, aRequest({ progress: { step: 0 } }), T0_MS)).toEqual({
      kind: "created",
      operation: anOperation({ progress: { step: 0 } }),
    });
  });

  test.each<[string, Operation]>([
    ["prepared", anOperation()],
    ["leased", aLeasedOperation()],
    ["completed", completed],
  ])("what is %s is found as it stands", (_state, stored) => {
    const decision = decidePrepare(stored, aRequest(), T0_MS + 1);
    expect(decision.kind).toBe("found");
    expect(decision.operation).toBe(stored);
  });

  test("what failed may run anew", () => {
    expect(decidePrepare(failed, aRequest(), T0_MS)).toEqual({ kind: "failed_before", operation: failed });
  });

  test.each<[string, Partial<OperationRequest>]>([
    ["input", { input: { reason: "cleanup" } }],
    ["kind", { kind: "restore" }],
    ["project", { projectId: projectId("web") }],
    ["subject", { subject: "request-2" }],
  ])("another %s is a conflict, whatever became of the first", (_what, difference) => {
    for (const stored of [anOperation(), aLeasedOperation(), completed, failed]) {
      expect(decidePrepare(stored, aRequest(difference), T0_MS)).toEqual({
        kind: "conflict",
        operation: stored,
      });
    }
  });

  test("the order of the input's members is no difference", () => {
    const stored = anOperation({ input: { a: 1, b: { c: 2, d: 3 } } });
    const request = aRequest({ input: { b: { d: 3, c: 2 }, a: 1 } });
    expect(decidePrepare(stored, request, T0_MS).kind).toBe("found");
  });

  test("progress is never compared, nor is a session that the operation itself makes", () => {
    const stored = anOperation({ progress: { marker: true }, sessionId: "app-1" });
    const repeat = aRequest({ progress: null, sessionId: sessionId("app-2") });
    expect(decidePrepare(stored, repeat, T0_MS)).toEqual({ kind: "found", operation: stored });
  });

  test("a request finds what it prepared itself, however late", () => {
    fc.assert(
      fc.property(fc.nat(), fc.string(), fc.jsonValue(), (laterMs, subject, json) => {
        const request = aRequest({ subject, input: JSON.parse(JSON.stringify(json)) });
        const { operation } = decidePrepare(undefined, request, T0_MS);
        expect(decidePrepare(operation, request, T0_MS + laterMs)).toEqual({ kind: "found", operation });
      }),
    );
  });
});
