function isPrefix(beginning: readonly string[], all: readonly string[]): boolean {
  return beginning.length <= all.length && beginning.every((line, index) => line === all[index]);
}

/**
 * What a screen shows that an earlier look at it did not: the lines that came after the scrolled-away
 * ones, a last line that grew, or, when it was drawn anew, all from the first line that differs.
 */
export function newLines(before: readonly string[], after: readonly string[]): readonly string[] {
  if (isPrefix(before, after)) return after.slice(before.length);
  const settled = before.slice(0, -1);
  const scrolled = settled.findIndex((_line, start) => isPrefix(settled.slice(start), after));
  const known = scrolled === -1 ? before : before.slice(scrolled);
  const firstOther = after.findIndex((line, index) => line !== known[index]);
  return firstOther === -1 ? [] : after.slice(firstOther);
}
