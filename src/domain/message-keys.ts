import { AoError } from "./errors.ts";
import type { SessionId } from "./ids.ts";

/** Controls that a terminal takes as keys: C0 but tab and line feed, and DEL (ECMA-48, termios(3)). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this looks for
const KEY = /[\u0000-\u0008\u000b-\u001f\u007f]/;

const CARRIAGE_RETURN = "\r";
const DELETE = "\u007f";

/** Whether text holds a character that is a key where it does not come as a bracketed paste. Pure. */
export function hasKeys(text: string): boolean {
  return KEY.test(text);
}

/**
 * To be called before text is typed into a terminal that tells a paste from keys by nothing.
 *
 * @throws AoError message_unsafe when a character of it would act as a key; `details` says which and where.
 */
export function refuseKeys(sessionId: SessionId, text: string): void {
  const found = KEY.exec(text);
  if (found === null) return;
  const [character] = found;
  const key = nameOf(character);
  throw new AoError(
    "message_unsafe",
    `the message for ${sessionId} holds ${key}, which its terminal would take as a key`,
    {
      hint: character === CARRIAGE_RETURN ? LINES_HINT : FILE_HINT,
      details: { sessionId, character: key, index: found.index },
    },
  );
}

const FILE_HINT = "leave it out, or put the text into a file of the worktree and send the file's name";
const LINES_HINT = "end its lines with a line feed alone, or send it as a file of the worktree by its name";

/** As terminals show it, for example `^C`; the key itself where that has a name that everybody knows. */
function nameOf(character: string): string {
  if (character === CARRIAGE_RETURN) return "a carriage return (^M)";
  if (character === "\u001b") return "an escape (^[)";
  if (character === DELETE) return "a delete (^?)";
  return `^${String.fromCharCode(character.charCodeAt(0) + 64)}`;
}
