/** A stream that a command writes to. */
export interface Output {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  /** Width of the terminal in columns. */
  readonly columns?: number;
  /** False once nobody reads it any more. */
  readonly writable: boolean;
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

/** A reader that went away (`| head`) is no error of ours: what is left to write is dropped. */
function ignoreClosedPipe(stream: NodeJS.WriteStream): void {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
  });
}

/** The real process. Call it once. */
export function processIo(interruption: Interruption): Io {
  ignoreClosedPipe(process.stdout);
  ignoreClosedPipe(process.stderr);
  return {
    env: process.env,
    cwd: process.cwd(),
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    interruption,
  };
}
