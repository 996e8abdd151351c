import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { hasErrorCode } from "../../../src/domain/error-code.ts";
import { isSameProcess } from "../../../src/domain/same-process.ts";

function failureOf(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

test.each<[string, unknown, boolean]>([
  ["an error of the system", failureOf(() => readFileSync("/nowhere/at/all")), true],
  ["an error without a code", new Error("ENOENT"), false],
  ["what is no error", { code: "ENOENT" }, false],
  ["nothing", undefined, false],
])("the code of %s is told only from what has one", (_what, error, has) => {
  expect(hasErrorCode(error, "EEXIST", "ENOENT")).toBe(has);
  expect(hasErrorCode(error, "EEXIST")).toBe(false);
  expect(hasErrorCode(error, "undefined")).toBe(false);
});

test("a process is the same only with the same pid, start and boot", () => {
  const process = { pid: 7, startTime: "10", bootId: "b" };
  expect(isSameProcess(process, { ...process })).toBe(true);
  for (const other of [{ pid: 8 }, { startTime: "11" }, { bootId: "c" }]) {
    expect(isSameProcess(process, { ...process, ...other })).toBe(false);
  }
});
