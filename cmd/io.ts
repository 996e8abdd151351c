/** A stream that a command writes to. */
export interface Output {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  /** The terminal itself, for what draws on it. */
  readonly terminal?: NodeJS.WriteStream | undefined;
  /** Width of the terminal in columns. */
  readonly columns?: number;
  /** False once nobody reads it any more, or it could not be written. */
  readonly writable: boolean;
  /**
   * Waits until all that was written so far went out, or cannot. Who writes on and on waits for it after each piece:
   * a reader that is slow then leaves one piece in memory, not all that came since.
   */
  drained(): Promise<void>;
  /**
   * Waits until all is written that was to be, and says why it could not be. `undefined` when it was, or when
   * its reader went away: that is no error of ours.
   */
  failure(): Promise<Error | undefined>;
}

/** A stream that a command reads from. */
export interface Input extends AsyncIterable<Buffer | string> {
  readonly isTTY?: boolean;
}

/** Everything a command touches of the process it runs in. */
export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly interruption: Interruption;
}

/** What became of Ctrl-C and its like. */
export interface Interruption {
  readonly signal: AbortSignal;
  /** From now on the first signal lets the running step finish; before, it ends the process at once. */
  hold(): void;
}

/**
 * A stream whose reader may go away (`| head`) and whose disk may be full: after the first error the rest is
 * dropped. Node's own stays `writable` then (20.20, `process.stdout` cannot be destroyed).
 */
function outputOf(stream: NodeJS.WriteStream): Output {
  let error: NodeJS.ErrnoException | undefined;
  let written: Promise<void> = Promise.resolve();
  stream.on("error", (first: NodeJS.ErrnoException) => {
    error ??= first;
  });
  return {
    write(text) {
      if (error === undefined) written = new Promise((resolve) => stream.write(text, () => resolve()));
    },
    drained: () => written,
    async failure() {
      await written;
      return error?.code === "EPIPE" ? undefined : error;
    },
    get isTTY() {
      return stream.isTTY;
    },
    get terminal() {
      return stream.isTTY ? stream : undefined;
    },
    get columns() {
      return stream.columns;
    },
    get writable() {
      return error === undefined && stream.writable;
    },
  };
}

/** A folder that was removed under its process is nowhere: no repository, no configuration. */
function currentFolder(): string {
  try {
    return process.cwd();
  } catch {
    return "/";
  }
}

/** The real process. Call it once. */
export function processIo(interruption: Interruption): Io {
  return {
    env: process.env,
    cwd: currentFolder(),
    // Made when it is asked for, which few commands do.
    get stdin() {
      return process.stdin;
    },
    stdout: outputOf(process.stdout),
    stderr: outputOf(process.stderr),
    interruption,
  };
}
