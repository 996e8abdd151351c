import { describe, expect, test } from "vitest";
import {
  isFinished,
  isLeased,
  type Operation,
  operationIdOfDigest,
  parseOperationId,
} from "../../../src/domain/operation.ts";
import { T0_MS } from "../../support/builders.ts";
import { aLeasedOperation, anOperation, anOperationIn } from "../../support/operations.ts";

describe("parseOperationId", () => {
  test("a UUID in lower case is one", () => {
    const text = "01234567-89ab-8def-8123-456789abcdef";
    expect(parseOperationId(text)).toBe(text);
  });

  test.each([
    "",
    "app-1",
    "01234567-89AB-8def-8123-456789abcdef",
    "01234567-89ab-8def-8123-456789abcdef\n",
    " 01234567-89ab-8def-8123-456789abcdef",
    "0123456789ab8def8123456789abcdef",
    "01234567-89ab-8def-8123-456789abcdeg",
  ])("%j is none", (text) => {
    expect(parseOperationId(text)).toBeUndefined();
  });
});

describe("operationIdOfDigest", () => {
  test.each([
    ["00000000000000000000000000000000", "00000000-0000-8000-8000-000000000000"],
    ["ffffffffffffffffffffffffffffffff", "ffffffff-ffff-8fff-bfff-ffffffffffff"],
    ["0123456789abcdef0123456789abcdef012345", "01234567-89ab-8def-8123-456789abcdef"],
  ])("%s is %s", (hex, id) => {
    expect(operationIdOfDigest(hex)).toBe(id);
  });

  test.each(["", "0123", "0123456789abcdef0123456789abcde", "0123456789abcdef0123456789abcdeX"])(
    "%j is refused",
    (hex) => {
      expect(() => operationIdOfDigest(hex)).toThrow(/128 bits/);
    },
  );
});

describe("a state", () => {
  test.each<[Operation, boolean, boolean]>([
    [anOperation(), false, false],
    [aLeasedOperation(), true, false],
    [anOperationIn({ kind: "completed", result: null, completedAtMs: T0_MS }), false, true],
    [anOperationIn({ kind: "failed", error: { code: "internal", message: "" }, result: null }), false, true],
  ])("$state.kind is leased or finished or neither", (operation, leased, finished) => {
    expect([isLeased(operation), isFinished(operation)]).toEqual([leased, finished]);
  });
});
