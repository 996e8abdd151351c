/** zsh replaces a word that begins with `=` by the path of a program. */
const PLAIN = /^(?!=)[A-Za-z0-9_./:=@%+,-]+$/;

/** A word as it must be typed into a POSIX shell to arrive as it is, whatever it holds but NUL (XCU 2.2.2). Pure. */
export function shellQuoted(word: string): string {
  return PLAIN.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
