import yoctoSpinner from "yocto-spinner";
import type { Io } from "./io.ts";

/** Shows what a long command is doing, on stderr. */
export interface Progress {
  step(text: string): void;
  /** Takes the spinner away; the next `step` brings it back. Idempotent. */
  clear(): void;
}

export interface ProgressOptions {
  readonly io: Io;
  readonly quiet: boolean;
  readonly verbose: boolean;
}

function spinner(stream: NodeJS.WriteStream): Progress {
  // Ctrl-C is the interruption's, not the spinner's.
  const shown = yoctoSpinner({ stream, handleSignals: false });
  return {
    step: (text) => {
      shown.text = text;
      if (!shown.isSpinning) shown.start();
    },
    clear: () => void (shown.isSpinning && shown.stop()),
  };
}

/** A spinner on a terminal; one line for each step with `--verbose` elsewhere; else nothing. */
export function startProgress({ io, quiet, verbose }: ProgressOptions): Progress {
  const { terminal } = io.stderr;
  const isDrawn = terminal !== undefined && io.env["TERM"] !== "dumb";
  if (isDrawn && !quiet && !verbose) return spinner(terminal);
  const step = quiet || !verbose ? () => {} : (text: string) => void io.stderr.write(`ao: ${text}\n`);
  return { step, clear: () => {} };
}
