import { describe, expect, test } from "vitest";
import type { OperationState } from "../../../src/domain/operation.ts";
import { toOperationJson } from "../../../src/domain/operation-json.ts";
import { T0_MS } from "../../support/builders.ts";
import { aLease, anOperationIn, anOwner } from "../../support/operations.ts";

const T0 = new Date(T0_MS).toISOString();
const NOTHING = { holder: null, nextAttemptAt: null, error: null, result: null };

const ROWS: readonly (readonly [string, OperationState, object])[] = [
  [
    "prepared with when it is due",
    { kind: "prepared", nextAttemptAtMs: T0_MS },
    { ...NOTHING, nextAttemptAt: T0 },
  ],
  [
    "leased with who holds it",
    aLease({ owner: anOwner() }),
    { ...NOTHING, holder: { pid: anOwner().process.pid, command: "ao kill app-1", since: T0 } },
  ],
  [
    "completed with its result",
    { kind: "completed", result: { freed: true }, completedAtMs: T0_MS },
    { ...NOTHING, result: { freed: true } },
  ],
  [
    "failed with its error and what is left",
    { kind: "failed", error: { code: "git_failed", message: "no luck" }, result: { left: [] } },
    { ...NOTHING, error: { code: "git_failed", message: "no luck" }, result: { left: [] } },
  ],
];

describe("toOperationJson", () => {
  test.each(ROWS)("an operation is told %s", (_what, state, told) => {
    expect(toOperationJson(anOperationIn(state, { lastError: "once" }))).toEqual({
      id: "00000000-0000-8000-8000-000000000001",
      kind: "kill",
      state: state.kind,
      requestId: "request-1",
      attempt: state.kind === "prepared" ? 0 : 1,
      createdAt: T0,
      updatedAt: T0,
      lastError: "once",
      ...told,
    });
  });

  test("neither what was asked nor its steps are told", () => {
    const secret = anOperationIn(aLease(), { input: { prompt: "secret" }, progress: { env: "secret" } });
    expect(JSON.stringify(toOperationJson(secret))).not.toContain("secret");
  });
});
