import { AoError, type AoErrorCode, EXIT_CODES, saysUnchanged } from "../src/domain/errors.ts";
import { errorJson, toAoError } from "./report-error.ts";

export interface Failure {
  readonly id: string;
  readonly error: AoError;
}

export interface Outcome<Result> {
  readonly results: readonly Result[];
  readonly failures: readonly Failure[];
}

/** Does the same to each id, one after the other; a failure does not stop the rest, `isStopped` does. */
export async function forEachOf<Id extends string, Result>(
  ids: readonly Id[],
  work: (id: Id) => Promise<Result>,
  isStopped: () => boolean,
): Promise<Outcome<Result>> {
  const results: Result[] = [];
  const failures: Failure[] = [];
  for (const id of ids) {
    try {
      if (isStopped()) throw new AoError("interrupted", `interrupted before ${id}`);
      results.push(await work(id));
    } catch (error) {
      failures.push({ id, error: toAoError(error) });
    }
  }
  return { results, failures };
}

/**
 * Several failures as one error: code and exit code of the worst, all of them in `details.failures`, and what
 * worked in `details.results`. `again` is the command line that does it to the ids behind it. A code that promises
 * that nothing was changed (exit code 5) is only that of all: beside another failure that one tells, and beside
 * successes alone it is `partly_failed`.
 */
export function worstOf({ results, failures }: Outcome<unknown>, again: string): AoError {
  const total = results.length + failures.length;
  return new AoError(codeOf(failures, results.length), `${failures.length} of ${total} sessions failed`, {
    hint: `the others are done; for these alone: ${again} ${failures.map(({ id }) => id).join(" ")}`,
    details: { results, failures: failures.map(({ id, error }) => ({ id, ...errorJson(error) })) },
  });
}

function codeOf(failures: readonly Failure[], worked: number): AoErrorCode {
  const others = failures.filter(({ error }) => !saysUnchanged(error));
  return worstCode(others) ?? (worked > 0 ? "partly_failed" : worstCode(failures)) ?? "internal";
}

function worstCode(failures: readonly Failure[]): AoErrorCode | undefined {
  const codes = failures.map(({ error }) => error.code);
  return codes.toSorted((a, b) => EXIT_CODES[b] - EXIT_CODES[a])[0];
}
