/** A number with its noun, for people: `1 file`, `2 files`, `3 worktrees`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : /(?:sh|ch|s|x)$/.test(noun) ? "es" : "s"}`;
}
