import { isAoError } from "../../domain/errors.ts";
import type { Operation } from "../../domain/operation.ts";
import { type ForkProgress, parseForkProgress } from "./fork-progress.ts";

/** How far a fork is; `undefined` for an operation of another kind, and for one that cannot be read. */
export function forkProgress(operation: Operation): ForkProgress | undefined {
  if (operation.kind !== "fork") return undefined;
  try {
    return parseForkProgress(operation);
  } catch (error) {
    if (isAoError(error, "store_corrupt")) return undefined;
    throw error;
  }
}
