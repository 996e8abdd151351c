import type { Access, Ao, OpenAo } from "../src/compose.ts";
import { AoError } from "../src/domain/errors.ts";
import { printable } from "../src/domain/printable.ts";
import { type Paint, painter } from "./color.ts";
import type { Io, Output } from "./io.ts";
import type { Deed } from "./output-failure.ts";
import { type Progress, startProgress } from "./progress.ts";
import { reportError, toAoError } from "./report-error.ts";

/** Flags that every command takes. */
export interface CommonOptions {
  readonly json?: boolean;
  readonly verbose?: boolean;
  readonly color: boolean;
  readonly config?: string;
}

type Lines = readonly string[];

export interface OpenChoice {
  /** In place of the one that `--config` names, or that is found. */
  readonly configPath?: string;
  /** As `OpenOptions.mayLackStore`. */
  readonly mayLackStore?: boolean;
}

/** One run of one command: its streams, its flags, and what it opened. */
export interface Invocation {
  readonly io: Io;
  readonly json: boolean;
  readonly paint: Paint;
  readonly progress: Progress;
  /** What followed `--`, for the agent. */
  readonly agentArgs: readonly string[];
  /**
   * Opens the store and the adapters; closed when the command ends, or before. Warnings of the configuration are
   * shown.
   */
  open(access: Access, chosen?: OpenChoice): Promise<Ao>;
  /** The result: one JSON value with `--json`, else the lines. */
  print(value: unknown, lines: () => Lines | Promise<Lines>): Promise<void>;
  /** The same, of a command that only shows something, as a text in pieces that are not kept. */
  printPieces(pieces: Iterable<string>): Promise<void>;
  /** A line on stderr for a person; with `--json` nothing. */
  note(text: string): void;
  warn(text: string): void;
  /** What was done and printed last; `undefined` when the command could only show something. */
  readonly deed: () => Deed | undefined;
  /** An error that does not end the command, as one that does is shown. */
  report(error: unknown): void;
  /** Signals wait for the end of the step from now on. */
  hold(): void;
  readonly isInterrupted: () => boolean;
  close(): void;
}

export interface InvocationRequest {
  readonly io: Io;
  readonly openAo: OpenAo;
  readonly options: CommonOptions;
  readonly agentArgs: readonly string[];
  /** What runs, for those who have to wait for it: `ao kill app-1`. */
  readonly command: string;
}

/** The same, telling what is odd about the configuration when it is first read; what is in `told` was told before. */
function withWarnings(
  ao: Ao,
  { told, warn }: { readonly told: Set<string>; readonly warn: (text: string) => void },
): Ao {
  return {
    ...ao,
    async config(recordedPath) {
      const config = await ao.config(recordedPath);
      for (const warning of config.warnings.filter((one) => !told.has(one))) warn(warning);
      for (const warning of config.warnings) told.add(warning);
      return config;
    },
  };
}

/** So much is written at once, in characters. */
const BATCH_LENGTH = 65_536;

async function writePieces(
  { progress, stdout }: { readonly progress: Progress; readonly stdout: Output },
  pieces: Iterable<string>,
): Promise<void> {
  progress.clear();
  for (const batch of inBatches(pieces)) {
    stdout.write(batch);
    await stdout.drained();
  }
}

function* inBatches(pieces: Iterable<string>): Generator<string> {
  let batch = "";
  for (const piece of pieces) {
    batch += piece;
    if (batch.length < BATCH_LENGTH) continue;
    yield batch;
    batch = "";
  }
  if (batch !== "") yield batch;
}

/** Begins a command. Call `close` at its end. */
export function beginInvocation(request: InvocationRequest): Invocation {
  const { io, openAo, options, agentArgs, command } = request;
  const json = options.json === true;
  const off = !options.color;
  const errorPaint = painter({ env: io.env, stream: io.stderr, off });
  const progress = startProgress({ io, quiet: json, verbose: options.verbose === true });
  const opened = new Set<Ao>();
  const told = new Set<string>();
  let isChanging = false;
  let deed: Deed | undefined;

  function note(text: string): void {
    if (json) return;
    progress.clear();
    io.stderr.write(`${text}\n`);
  }

  const warn = (text: string) => note(`${errorPaint("yellow", "warning:")} ${printable(text)}`);

  return {
    io,
    json,
    paint: painter({ env: io.env, stream: io.stdout, off }),
    progress,
    agentArgs,
    async open(access, chosen = {}) {
      const configPath = chosen.configPath ?? options.config;
      const ao = await openAo({
        ...{ env: io.env, cwd: io.cwd, access, command },
        ...(configPath && { configPath }),
        mayLackStore: chosen.mayLackStore === true,
      });
      opened.add(ao);
      isChanging ||= access === "create" || access === "existing";
      const close = () => {
        if (opened.delete(ao)) ao.close();
      };
      return withWarnings({ ...ao, close }, { told, warn });
    },
    async print(value, lines) {
      const text = json ? JSON.stringify(value, null, 2) : (await lines()).join("\n");
      progress.clear();
      if (isChanging) deed = { result: value, text, json };
      if (text !== "") io.stdout.write(`${text}\n`);
    },
    printPieces: (pieces) => writePieces({ progress, stdout: io.stdout }, pieces),
    deed: () => deed,
    ...{ note, warn },
    report: (error) => {
      progress.clear();
      reportError(toAoError(error), { io, json, paint: errorPaint });
    },
    hold: () => io.interruption.hold(),
    isInterrupted: () => io.interruption.signal.aborted,
    close() {
      progress.clear();
      for (const ao of opened) ao.close();
    },
  };
}

/**
 * Opens an existing store and looks at it as a whole, once: what is damaged is no ground to bring back or to take
 * away anything.
 *
 * @throws AoError store_corrupt, and as `open`.
 */
export async function openWhole(
  invocation: Pick<Invocation, "open">,
  chosen: Pick<OpenChoice, "mayLackStore"> = {},
): Promise<Ao> {
  const ao = await invocation.open("existing", chosen);
  ao.deps.store.verify();
  return ao;
}

/**
 * Refuses two flags that exclude each other.
 *
 * @throws AoError usage
 */
export function refuseTogether(first: readonly [boolean, string], second: readonly [boolean, string]): void {
  if (!first[0] || !second[0]) return;
  throw new AoError("usage", `${first[1]} and ${second[1]} exclude each other`, {
    hint: `leave ${second[1]} out`,
  });
}
