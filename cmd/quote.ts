const PLAIN = /^[A-Za-z0-9_./:=@%+,-]+$/;

/** A word as it must be typed into a shell to arrive as it is (POSIX 2.2.2, single quotes). */
export function quoted(word: string): string {
  return PLAIN.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
