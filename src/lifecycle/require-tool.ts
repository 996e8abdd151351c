import { AoError, type AoErrorCode } from "../domain/errors.ts";
import type { ToolCheck } from "../ports/tool-check.ts";

/** @throws AoError with `code` when the tool cannot be used. */
export function requireTool(code: AoErrorCode, name: string, check: ToolCheck): void {
  switch (check.kind) {
    case "ok":
      return;
    case "missing":
      throw new AoError(code, `${name} is not installed`, { hint: check.hint });
    case "too_old":
      throw new AoError(code, `${name} ${check.version} is older than ${check.needed}`, { hint: check.hint });
    case "failed":
      throw new AoError(code, `${name} did not answer: ${check.cause}`, { hint: "ao doctor" });
  }
}
