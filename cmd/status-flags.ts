import { AoError } from "../src/domain/errors.ts";
import { STATUSES, type Status } from "../src/domain/status.ts";
import { durationFlag } from "./flags.ts";

export const DEFAULT_STATUS_WAIT = "10m";

function parseStatus(text: string): Status | undefined {
  return STATUSES.find((status) => status === text);
}

/** The statuses of a list with commas. @throws AoError usage when one is none. */
export function statusesFlag(flag: string, text: string): readonly Status[] {
  return text.split(",").map((part) => {
    const status = parseStatus(part.trim());
    if (status !== undefined) return status;
    throw new AoError("usage", `${flag} must be a status, is ${JSON.stringify(part)}`, {
      hint: `one or more of ${STATUSES.join(", ")}`,
    });
  });
}

/** How long to wait for a status, in milliseconds. @throws AoError usage */
export function statusTimeout(timeout: string | undefined): number {
  return durationFlag("--timeout", timeout ?? DEFAULT_STATUS_WAIT);
}
