import { expect, test } from "vitest";
import { worstOf } from "../../../cmd/several.ts";
import { AoError, type AoErrorCode, EXIT_CODES } from "../../../src/domain/errors.ts";

const failed = (...codes: readonly AoErrorCode[]) =>
  codes.map((code, at) => ({ id: `app-${at + 1}`, error: new AoError(code, "no") }));

test.each<[string, number, readonly AoErrorCode[], number]>([
  ["all of which could not tell", 0, ["store_busy", "git_unavailable"], 5],
  ["one of which worked, and the other could not tell", 1, ["store_busy"], 1],
  ["of which one could not tell, and one was refused", 0, ["workspace_dirty", "store_busy"], 4],
  ["of which one worked, one could not tell, and one was refused", 1, ["store_busy", "workspace_dirty"], 4],
  ["of which one could not tell, and one half-way stopped", 0, ["store_busy", "teardown_incomplete"], 1],
  ["of which one was refused", 1, ["workspace_dirty"], 4],
  ["that were interrupted", 1, ["store_busy", "interrupted"], 130],
])("several sessions %s end with a code that is true of all", (_name, done, codes, exitCode) => {
  const results = Array.from({ length: done }, () => ({}));
  const { code, details } = worstOf({ results, failures: failed(...codes) }, "ao kill");
  expect(EXIT_CODES[code]).toBe(exitCode);
  expect(details).toMatchObject({ results, failures: codes.map((one) => ({ code: one })) });
});
