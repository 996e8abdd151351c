/** One row of the table of edit distances between prefixes of two words. */
function nextRow(previous: readonly number[], letter: string, row: number, word: string): number[] {
  const next = [row];
  for (let column = 1; column <= word.length; column++) {
    const replaced = (previous[column - 1] ?? 0) + (word[column - 1] === letter ? 0 : 1);
    next.push(Math.min(replaced, (previous[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1));
  }
  return next;
}

/** How many letters must be put in, taken out or changed to turn one word into the other. */
function editDistance(from: string, to: string): number {
  const first = Array.from({ length: to.length + 1 }, (_, index) => index);
  const last = [...from].reduce((row, letter, index) => nextRow(row, letter, index + 1, to), first);
  return last.at(-1) ?? 0;
}

/** The known word that was probably meant: at most two edits away and under half of its length. */
export function nearestName(word: string, known: readonly string[]): string | undefined {
  const scored = known
    .map((name) => ({ name, distance: editDistance(word.toLowerCase(), name.toLowerCase()) }))
    .filter(({ name, distance }) => distance <= 2 && distance * 2 < name.length)
    .sort((a, b) => a.distance - b.distance);
  return scored[0]?.name;
}
