import type { WriteStream } from "node:tty";
import { printable } from "../../../../domain/printable.ts";

/** Plain lines that scroll, and below them one input line. */
export interface Screen {
  /** Prints text, one or more lines; whatever controls it holds are made visible. */
  print(text: string): void;
  /** Shows what is typed so far. */
  showInput(view: string): void;
  /** Leaves the cursor on a line of its own and pastes as they were. Idempotent. */
  close(): void;
}

const PROMPT = "> ";
const CLEAR_LINE = "\r\x1b[K";
const PASTES_ON = "\x1b[?2004h";
const PASTES_OFF = "\x1b[?2004l";
const DEFAULT_COLUMNS = 80;

/** The end of a text that surely fits: every character beyond ASCII is counted as two columns wide. */
function lastColumns(text: string, columns: number): string {
  const shown: string[] = [];
  let left = columns;
  for (const character of [...text].reverse()) {
    left -= character < "\x7f" ? 1 : 2;
    if (left < 0) break;
    shown.unshift(character);
  }
  return shown.join("");
}

function terminalScreen(stdout: WriteStream): Screen {
  let view = "";
  let closed = false;
  const inputLine = () => {
    const columns = (stdout.columns || DEFAULT_COLUMNS) - PROMPT.length - 1;
    return CLEAR_LINE + PROMPT + lastColumns(printable(view), columns);
  };
  stdout.write(PASTES_ON + inputLine());
  return {
    print: (text) => {
      const lines = text.split("\n").map((line) => `${printable(line)}\n`);
      stdout.write(CLEAR_LINE + lines.join("") + inputLine());
    },
    showInput: (next) => {
      if (next === view) return;
      view = next;
      stdout.write(inputLine());
    },
    close: () => {
      if (!closed) stdout.write(CLEAR_LINE + PASTES_OFF);
      closed = true;
    },
  };
}

function plainScreen(stdout: WriteStream): Screen {
  return {
    print: (text) =>
      stdout.write(
        text
          .split("\n")
          .map((line) => `${printable(line)}\n`)
          .join(""),
      ),
    showInput: () => undefined,
    close: () => undefined,
  };
}

/** A screen on a terminal, or plain lines on anything else. A reader that went away is no error. */
export function openScreen(stdout: WriteStream): Screen {
  stdout.on("error", () => undefined);
  return stdout.isTTY ? terminalScreen(stdout) : plainScreen(stdout);
}
