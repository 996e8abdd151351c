import { type PaneRef, type Pasting, typeCommand } from "./args.ts";
import { isAtLeast, parseTmuxVersion } from "./version.ts";

/**
 * The end of a bracketed paste (xterm, ctlseqs, "Bracketed Paste Mode") may stand in a message, with
 * either form of CSI. tmux up to 3.6 passes it on as it is, and the rest of the message would be keys.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: escape characters are what it looks for
const INSIDE_PASTE_END = /(?<=\u001b)(?=\[201~)|(?<=\u009b)(?=201~)/;

/** Text whose concatenation is `text` and of which none holds the end of a bracketed paste. Pure. */
export function splitAtPasteEnd(text: string): readonly string[] {
  return text === "" ? [] : text.split(INSIDE_PASTE_END);
}

/**
 * Flags of `paste-buffer` that bring the bytes as they are: gone afterwards, bracketed when the agent
 * asked for it, no newline changed; from 3.7 on also no control character replaced (CHANGES of tmux 3.7).
 */
export function pasteFlags(serverVersion: string): string {
  const version = parseTmuxVersion(serverVersion);
  return version !== undefined && isAtLeast(version, 3, 7) ? "-dprS" : "-dpr";
}

export interface Typing extends Omit<Pasting, "buffers"> {
  readonly pane: PaneRef;
  /** One paste each; none at all is a bare Enter. */
  readonly pieces: readonly string[];
  /** Letters, digits and `-`; used by nobody else. */
  readonly bufferName: string;
}

/** One call of tmux with its standard input. */
export interface TmuxCall {
  readonly command: readonly string[];
  readonly input: string;
}

/**
 * The one call that types the pieces and presses Enter; it prints `TYPED` when it did. Pure. The server
 * carries it out in one go once it has the text, so that no other call comes between, and a caller that
 * dies leaves no half behind. The text goes in by standard input: an argument may have 16 KB at most.
 */
export function typingCall({ pane, pieces, bufferName, ...how }: Typing): TmuxCall {
  const [onlyPiece] = pieces;
  if (onlyPiece === undefined) return { command: typeCommand(pane, { buffers: [], ...how }), input: "" };
  if (pieces.length === 1) {
    const typing = typeCommand(pane, { buffers: [bufferName], ...how });
    return { command: ["load-buffer", "-b", bufferName, "-", ";", ...typing], input: onlyPiece };
  }
  const buffers = pieces.map((_piece, index) => `${bufferName}-${index}`);
  const loads = pieces.map((piece, index) => ["set-buffer", "-b", `${bufferName}-${index}`, "--", piece]);
  const script = [...loads, typeCommand(pane, { buffers, ...how })].map(scriptLine);
  return { command: ["source-file", "-"], input: script.join("") };
}

/** A command as a line of a tmux script, every argument in quotes with octal escapes (tmux(1), PARSING SYNTAX). */
function scriptLine(command: readonly string[]): string {
  const escaped = command.map((argument) =>
    argument.replace(/[^A-Za-z0-9 \u0080-\u{10ffff}]/gu, (character) => {
      const octal = (character.codePointAt(0) ?? 0).toString(8);
      return `\\${octal.padStart(3, "0")}`;
    }),
  );
  return `${escaped.map((argument) => `"${argument}"`).join(" ")}\n`;
}
