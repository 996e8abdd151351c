import { CommanderError } from "commander";
import { AoError, EXIT_CODES, errorMessage, isAoError } from "../src/domain/errors.ts";
import { printable } from "../src/domain/printable.ts";
import type { Paint } from "./color.ts";
import type { Io } from "./io.ts";

/** How commander says that a value is none of those it may be (14.0). */
const NO_CHOICE =
  /^(?:command-argument value '(.*)' is invalid for argument '(.*)'|option '(.*)' argument '(.*)' is invalid)\. Allowed choices are (.*)\.$/s;

function fromNoChoice(error: CommanderError, text: string): AoError | undefined {
  const [isOne, value, argument, option, optionValue, choices = ""] = NO_CHOICE.exec(text) ?? [];
  if (isOne === undefined) return undefined;
  const name = option ?? `<${argument}>`;
  return new AoError("usage", `${name} cannot be ${JSON.stringify(value ?? optionValue)}`, {
    hint: `one of ${choices}`,
    cause: error,
  });
}

/** What is looked for as a command and is something else. */
const ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ["version", "did you mean ao --version?"],
  ["pool", "ao reconcile makes worktrees ahead: pool in ao.yaml says how many"],
]);

/**
 * commander's `error: unknown option '--x'\n(Did you mean --y?)` as one of ours.
 *
 * @param command whose help tells more, as it is typed: `ao transcript prune`.
 */
export function fromCommander(error: CommanderError, command = "ao"): AoError {
  const help = `${command} --help`;
  if (error.code === "commander.help") {
    const message = `${command} needs one of its commands behind it`;
    return new AoError("usage", message, { hint: `see: ${help}`, cause: error });
  }
  const text = error.message.replace(/^error: /, "");
  const noChoice = fromNoChoice(error, text.trimEnd());
  if (noChoice !== undefined) return noChoice;
  const [first = "", ...rest] = text.split("\n");
  const elsewhere = ELSEWHERE.get(/^unknown command '(.*)'$/.exec(first)?.[1] ?? "");
  if (elsewhere !== undefined) return new AoError("usage", first, { hint: elsewhere, cause: error });
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
}

/** Any thrown thing as the error that is shown for it. */
export function toAoError(error: unknown, { interrupted = false }: ErrorContext = {}): AoError {
  if (error instanceof CommanderError) return fromCommander(error);
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

/** Of a long output its end tells why. */
const OUTPUT_LINES = 10;

/** The end of what a program wrote; nothing where the message ends with all of it. */
function outputLines({ details, message }: AoError): readonly string[] {
  const written = lines(details["output"]).filter((line) => line.trim() !== "");
  const [only] = written;
  if (written.length === 1 && only !== undefined && message.endsWith(`: ${only}`)) return [];
  const hidden = written.length - OUTPUT_LINES;
  if (hidden <= 1) return written;
  return [`… ${hidden} lines before these, which --json shows, too:`, ...written.slice(hidden)];
}

/** What a person needs of `details` beyond the message: findings, lost output, all problems, what is left. */
function detailLines(error: AoError): readonly string[] {
  const { details, message } = error;
  const problems =
    Array.isArray(details["problems"]) && details["problems"].length > 1 ? details["problems"] : [];
  const told = ["findings", "failures", "left"].map((name) => details[name]).concat([problems]);
  // Of output no line is left out for that: one of it may well stand in the command that the message names.
  return told
    .flatMap(lines)
    .filter((line) => !message.includes(line))
    .filter((line) => line.trim() !== "")
    .concat(outputLines(error))
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
