import { AoError, errorMessage } from "../src/domain/errors.ts";
import type { Output } from "./io.ts";
import { toAoError } from "./report-error.ts";

/** What a command did and then printed. */
export interface Deed {
  readonly result: unknown;
  readonly text: string;
  readonly json: boolean;
}

interface Printing {
  readonly stdout: Pick<Output, "failure">;
  /** What was done and is in the result; `undefined` when the command only showed something. */
  readonly deed: () => Deed | undefined;
}

const messageOf = (cause: Error) =>
  `the result could not be written to standard output: ${errorMessage(cause)}`;

/** Of a deed the result is part of the error: nobody has it otherwise. */
function detailsOf(deed: Deed | undefined): Readonly<Record<string, unknown>> {
  if (deed === undefined) return {};
  return deed.json ? { result: deed.result } : { output: deed.text };
}

/** The error of a command that did what was asked, and could not say so. */
export function outputFailed(cause: Error, deed?: Deed): AoError {
  return new AoError("output_failed", messageOf(cause), {
    ...(deed && { hint: "it was done all the same" }),
    details: detailsOf(deed),
    cause,
  });
}

function alsoOutputFailed(thrown: unknown, cause: Error, deed: Deed | undefined): AoError {
  const { code, message, hint, details } = toAoError(thrown);
  return new AoError(code, `${message}; ${messageOf(cause)}`, {
    ...(hint !== null && { hint }),
    details: { ...details, ...detailsOf(deed) },
    cause: thrown,
  });
}

/**
 * Runs `work` and waits until what it printed is written.
 *
 * @throws AoError output_failed when it could not be; the deed is in its details.
 * @throws what `work` throws, which tells of the output, too, when both failed.
 */
export async function whileWriting<Result>(
  { stdout, deed }: Printing,
  work: () => Promise<Result>,
): Promise<Result> {
  let result: Result;
  try {
    result = await work();
  } catch (thrown) {
    const cause = await stdout.failure();
    throw cause === undefined ? thrown : alsoOutputFailed(thrown, cause, deed());
  }
  const cause = await stdout.failure();
  if (cause !== undefined) throw outputFailed(cause, deed());
  return result;
}
