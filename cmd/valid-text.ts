import { AoError } from "../src/domain/errors.ts";
import { printable } from "../src/domain/printable.ts";

/** What Node puts in place of bytes that are no UTF-8 (20.20): which ones they were is lost. */
const LOST = "\ufffd";

function lost(what: string): AoError {
  return new AoError("usage", `${what} is not valid UTF-8, or holds the mark U+FFFD for what was not`, {
    hint: "write it in UTF-8; a prompt or a message with that mark goes into a file: --prompt-file, --file",
  });
}

/**
 * Refuses arguments and `AO_…` variables of which a part is lost: an id, a path or a text would be another one
 * than was given.
 *
 * @throws AoError usage
 */
export function refuseLostText(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): void {
  const argument = argv.findIndex((word) => word.includes(LOST));
  if (argument !== -1) throw lost(`argument ${argument + 1} (${printable(shortened(argv[argument] ?? ""))})`);
  const name = Object.keys(env).find((key) => key.startsWith("AO_") && env[key]?.includes(LOST));
  if (name !== undefined) throw lost(name);
}

function shortened(text: string): string {
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}
