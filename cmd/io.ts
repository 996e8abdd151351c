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

/**
 * A stream whose reader may go away (`| head`), which is no error of ours: what is left to write is dropped.
 * Node's own stays `writable` after EPIPE (20.20, `process.stdout` cannot be destroyed).
 */
function outputOf(stream: NodeJS.WriteStream): Output {
  let isRead = true;
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    isRead = false;
  });
  return {
    write: (text) => isRead && stream.write(text),
    get isTTY() {
      return stream.isTTY;
    },
    get columns() {
      return stream.columns;
    },
    get writable() {
      return isRead && stream.writable;
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
    stdin: process.stdin,
    stdout: outputOf(process.stdout),
    stderr: outputOf(process.stderr),
    interruption,
  };
}
