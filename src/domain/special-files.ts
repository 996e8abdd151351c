import type { SpecialFile } from "./salvage.ts";

const SHOWN = 5;

/** What a restore says of what it could not make. @param missing at least one. */
export function notMade(missing: readonly SpecialFile[]): string {
  return `not made again, for a salvage holds its name alone: ${listed(missing)}`;
}

/** What a salvage cannot hold of them; `null` when there are none. */
export function heldByName(special: readonly SpecialFile[]): string | null {
  if (special.length === 0) return null;
  return `kept by name alone, a pipe comes back empty, all else not: ${listed(special)}`;
}

function listed(special: readonly SpecialFile[]): string {
  const said = special.slice(0, SHOWN).map(({ kind, path }) => `${kind} ${path}`);
  const more = special.length > SHOWN ? [`and ${special.length - SHOWN} more`] : [];
  return [...said, ...more].join(", ");
}
