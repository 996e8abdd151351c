import { CommanderError } from "commander";
import type { OpenAo } from "../src/compose.ts";
import { EXIT_CODES } from "../src/domain/errors.ts";
import { painter } from "./color.ts";
import type { Io } from "./io.ts";
import { outputFailed } from "./output-failure.ts";
import { runProgram } from "./program.ts";
import { reportError, toAoError } from "./report-error.ts";
import { refuseLostText } from "./valid-text.ts";

/** Whether the result, and so any error, is wanted as JSON. */
export function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf("--");
  return (end === -1 ? argv : argv.slice(0, end)).includes("--json");
}

/** Help that was asked for ends a command line as an error does, with a good exit code. */
async function exitCodeOf(work: () => Promise<number>): Promise<number> {
  try {
    return await work();
  } catch (thrown) {
    if (thrown instanceof CommanderError && thrown.exitCode === 0) return 0;
    throw thrown;
  }
}

/**
 * Runs one command line, prints its error if it has one, and returns the exit code. A command that finished
 * after a signal is 130 as well, so that a shell's loop ends with it. Never rejects: this is the one place
 * that catches for good.
 */
export async function run(argv: readonly string[], io: Io, openAo: OpenAo): Promise<number> {
  try {
    refuseLostText(argv, io.env);
    const exitCode = await exitCodeOf(() => runProgram(argv, { io, openAo }));
    const unwritten = await io.stdout.failure();
    if (unwritten !== undefined) throw outputFailed(unwritten);
    return io.interruption.signal.aborted ? EXIT_CODES.interrupted : exitCode;
  } catch (thrown) {
    const paint = painter({ env: io.env, stream: io.stderr, off: argv.includes("--no-color") });
    const { aborted: interrupted } = io.interruption.signal;
    const error = toAoError(thrown, { interrupted });
    return reportError(error, { io, json: wantsJson(argv), paint });
  }
}
