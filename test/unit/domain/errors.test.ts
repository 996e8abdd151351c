import { describe, expect, test } from "vitest";
import { AoError, EXIT_CODES, errorMessage, isAoError, saysUnchanged } from "../../../src/domain/errors.ts";

describe("AoError", () => {
  test("carries code, message, hint, details and cause", () => {
    const cause = new Error("why");
    const error = new AoError("branch_in_use", "branch x is checked out elsewhere", {
      hint: "git worktree list",
      details: { path: "/x" },
      cause,
    });
    expect(error).toMatchObject({
      name: "AoError",
      code: "branch_in_use",
      message: "branch x is checked out elsewhere",
      hint: "git worktree list",
      details: { path: "/x" },
      cause,
    });
  });

  test("has no hint and no details until it is given them", () => {
    expect(new AoError("internal", "x")).toMatchObject({ hint: null, details: {} });
  });
});

describe("isAoError", () => {
  test("tells foreseen failures from others, and one code from another", () => {
    const error: unknown = new AoError("usage", "x");
    expect(isAoError(error)).toBe(true);
    expect(isAoError(error, "usage")).toBe(true);
    expect(isAoError(error, "internal")).toBe(false);
    expect(isAoError(new Error("x"))).toBe(false);
    expect(isAoError(undefined)).toBe(false);
  });
});

describe("saysUnchanged", () => {
  test.each([
    ["git_unavailable", true],
    ["teardown_incomplete", false],
    ["usage", false],
  ] as const)("of %s is %s", (code, expected) => {
    expect(saysUnchanged(new AoError(code, "x"))).toBe(expected);
  });
});

describe("errorMessage", () => {
  test.each([
    [new Error("why"), "why"],
    [new AoError("usage", "what"), "what"],
    ["text", "text"],
    [undefined, "undefined"],
    [null, "null"],
  ])("of %s is %s", (thrown, text) => {
    expect(errorMessage(thrown)).toBe(text);
  });
});

describe("EXIT_CODES", () => {
  test("codes are lower snake case, exit codes those of the command line", () => {
    for (const [code, exitCode] of Object.entries(EXIT_CODES)) {
      expect(code).toMatch(/^[a-z]+(?:_[a-z]+)*$/);
      expect([1, 2, 3, 4, 5, 130]).toContain(exitCode);
    }
  });

  test.each([
    ["usage", 2],
    ["config_invalid", 2],
    ["project_not_found", 3],
    ["session_not_found", 3],
    ["agent_not_found", 3],
    ["not_restorable", 4],
    ["operation_in_progress", 4],
    ["request_conflict", 4],
    ["workspace_dirty", 4],
    ["workspace_unsafe_path", 4],
    ["branch_in_use", 4],
    ["branch_invalid", 2],
    ["agent_session_unknown", 4],
    ["runtime_unavailable", 5],
    ["git_unavailable", 5],
    ["store_busy", 5],
    ["store_newer", 5],
    ["store_corrupt", 5],
    ["teardown_incomplete", 1],
    ["delivery_unconfirmed", 1],
    ["internal", 1],
    ["interrupted", 130],
  ] as const)("%s exits with %d", (code, exitCode) => {
    expect(EXIT_CODES[code]).toBe(exitCode);
  });
});
