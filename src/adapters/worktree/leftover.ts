import { errorMessage } from "../../domain/errors.ts";

/** Something that could not be taken away and is still there, as `details.left` tells it. */
export interface Leftover {
  readonly what: string;
  readonly where: string;
  readonly why: string;
}

/** Files that stay at a path, for what went wrong there. */
export function filesLeft(where: string, cause: unknown): Leftover {
  return { what: "files", where, why: errorMessage(cause) };
}
