import { EXIT_CODES } from "../src/domain/errors.ts";
import type { Interruption } from "./io.ts";

const SHOW_CURSOR = "\u001b[?25h";
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Listens for the signals that ask a process to end. While held, the first one only marks the command as
 * interrupted, so that it can finish or undo its step; the second ends the process.
 */
export function processInterruption(json: boolean): Interruption {
  const controller = new AbortController();
  let held = false;

  function end(): never {
    const error = { code: "interrupted", message: "interrupted", hint: null, details: {} };
    if (json) process.stderr.write(`${JSON.stringify({ error })}\n`);
    if (process.stderr.isTTY) process.stderr.write(SHOW_CURSOR);
    process.exit(EXIT_CODES.interrupted);
  }

  function onSignal(): void {
    if (!held || controller.signal.aborted) end();
    controller.abort();
    if (!json) process.stderr.write("\nao: finishing this step; once more ends at once\n");
  }

  for (const signal of SIGNALS) process.on(signal, onSignal);
  const hold = () => {
    held = true;
  };
  return { signal: controller.signal, hold };
}
