import { CommanderError } from "commander";
import { AoError, EXIT_CODES, errorMessage, isAoError } from "../src/domain/errors.ts";
import { printable } from "../src/domain/printable.ts";
import type { Paint } from "./color.ts";
import type { Io } from "./io.ts";

/** commander's `error: unknown option '--x'\n(Did you mean --y?)` as one of ours. */
function fromCommander(error: CommanderError, command: string | undefined): AoError {
  const help = command === undefined ? "ao --help" : `ao ${command} --help`;
  if (error.code === "commander.help") {
    return new AoError("usage", "a command is missing here, or is none", {
      hint: `see: ${help}`,
      cause: error,
    });
  }
  const [first = "", ...rest] = error.message.replace(/^error: /, "").split("\n");
  const suggestion = /Did you mean (.*)\?/.exec(rest.join(" "))?.[1];
  const hint = suggestion ? `did you mean ${suggestion}?` : `see: ${help}`;
  return new AoError("usage", first, { hint, cause: error });
}

/** A signal came while it was done: what failed, what is left and what to do about it is told all the same. */
function asInterrupted(error: unknown): AoError {
  if (isAoError(error, "interrupted")) return error;
  const { code, message, hint, details } = toAoError(error);
  return new AoError("interrupted", `interrupted: ${message}`, {
    ...(hint !== null && { hint }),
    details: { ...details, code },
    cause: error,
  });
}

export interface ErrorContext {
  /** A signal came while the command ran. */
  readonly interrupted?: boolean;
  /** The command whose help tells more; none when the command line names none. */
  readonly command?: string | undefined;
}

/** Any thrown thing as the error that is shown for it. */
export function toAoError(error: unknown, { interrupted = false, command }: ErrorContext = {}): AoError {
  if (error instanceof CommanderError) return fromCommander(error, command);
  if (interrupted) return asInterrupted(error);
  if (isAoError(error)) return error;
  return new AoError("internal", `unexpected failure: ${errorMessage(error)}`, {
    hint: "run it again with AO_DEBUG=1 and report the stack trace",
    cause: error,
  });
}

/** The error as `--json` prints it. */
export function errorJson({ code, message, hint, details }: AoError) {
  return { code, message, hint, details };
}

function lines(value: unknown): readonly string[] {
  if (typeof value === "string") return value.trimEnd().split("\n");
  return Array.isArray(value) ? value.map((item) => lineOf(item)) : [];
}

function lineOf(item: unknown): string {
  if (typeof item !== "object" || item === null) return String(item);
  const {
    detail,
    message,
    key,
    line,
    id,
    what,
    where: place,
    why,
  } = item as Readonly<Record<string, unknown>>;
  if (what !== undefined && place !== undefined)
    return `${what} ${place}${why === undefined ? "" : `: ${why}`}`;
  const where = key === undefined ? id : `line ${line}: ${key}`;
  const text = String(detail ?? message ?? JSON.stringify(item));
  return where === undefined ? text : `${where} ${text}`;
}

/** What a person needs of `details` beyond the message: findings, lost output, all problems, what is left. */
function detailLines({ details, message }: AoError): readonly string[] {
  const problems =
    Array.isArray(details["problems"]) && details["problems"].length > 1 ? details["problems"] : [];
  const told = ["findings", "failures", "left"].map((name) => details[name]).concat([problems]);
  // Output is shown whole: a line of it may well stand in the command that the message names.
  return told
    .flatMap(lines)
    .filter((line) => !message.includes(line))
    .concat(lines(details["output"]))
    .filter((line) => line.trim() !== "")
    .map((line) => `  ${printable(line)}`);
}

function humanText(error: AoError, paint: Paint): string {
  const hint = error.hint === null ? [] : [`${paint("cyan", "hint:")} ${printable(error.hint)}`];
  return [`${paint("red", "ao:")} ${printable(error.message)}`, ...detailLines(error), ...hint].join("\n");
}

function stackOf(error: AoError): string {
  const origin = error.cause instanceof Error ? error.cause : error;
  return origin.stack ?? String(origin);
}

export interface ReportOptions {
  readonly io: Io;
  readonly json: boolean;
  readonly paint: Paint;
}

/** Prints an error on stderr, for a person or as one JSON line, and returns its exit code. */
export function reportError(error: AoError, { io, json, paint }: ReportOptions): number {
  const text = json ? JSON.stringify({ error: errorJson(error) }) : humanText(error, paint);
  io.stderr.write(`${text}\n`);
  if (error.code === "internal" && io.env["AO_DEBUG"] && !json) io.stderr.write(`${stackOf(error)}\n`);
  return EXIT_CODES[error.code];
}
