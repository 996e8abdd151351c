import type { ReadStream } from "node:tty";
import { INITIAL_INPUT, type InputEvent, isEscapePending, readInput, tellEscape } from "./input-parser.ts";

/** How long an escape byte waits for the rest of a sequence before it is the escape key, in milliseconds. */
const ESCAPE_DELAY_MS = 100;

export interface Keyboard {
  /** Gives the terminal back as it was. Idempotent, and quiet when the terminal is gone. */
  close(): void;
}

export interface KeyboardListener {
  onInput(event: InputEvent): void;
  /** A chunk was read whole: a good moment to draw. */
  onRead(): void;
  /** Nothing more will come. */
  onEnd(): void;
}

function setRaw(stdin: ReadStream, raw: boolean): void {
  try {
    if (stdin.isTTY) stdin.setRawMode(raw);
  } catch {
    // A terminal that was closed has no mode to set.
  }
}

/** Reads keys from the standard input: raw when it is a terminal, and the same bytes when it is a pipe. */
export function openKeyboard(stdin: ReadStream, listener: KeyboardListener): Keyboard {
  let state = INITIAL_INPUT;
  let escapeTimer: NodeJS.Timeout | undefined;

  const apply = (step: ReturnType<typeof readInput>) => {
    state = step.state;
    for (const event of step.events) listener.onInput(event);
    listener.onRead();
  };
  const onData = (chunk: Buffer) => {
    clearTimeout(escapeTimer);
    apply(readInput(state, chunk));
    if (isEscapePending(state)) escapeTimer = setTimeout(() => apply(tellEscape(state)), ESCAPE_DELAY_MS);
  };

  setRaw(stdin, true);
  stdin.on("data", onData);
  stdin.on("end", () => listener.onEnd());
  stdin.on("error", () => listener.onEnd());
  return {
    close: () => {
      clearTimeout(escapeTimer);
      stdin.off("data", onData);
      setRaw(stdin, false);
    },
  };
}
