/** C0 and C1 controls, DEL, line separators, marks that turn the direction of text, lone surrogates. */
const UNSAFE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this looks for
  /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]|\p{Cs}/gu;

const SHORT_ESCAPES: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/**
 * Any text as one line that is safe on a terminal: characters that act on it, end the line or turn the
 * direction of text are shown as `\n`, `\x1b`, `\u202e` and the like. Everything else stays literal.
 */
export function printable(text: string): string {
  return text.replace(UNSAFE, (character) => SHORT_ESCAPES[character] ?? escapeOf(character));
}

function escapeOf(character: string): string {
  const hex = character.charCodeAt(0).toString(16);
  return hex.length > 2 ? `\\u${hex.padStart(4, "0")}` : `\\x${hex.padStart(2, "0")}`;
}
