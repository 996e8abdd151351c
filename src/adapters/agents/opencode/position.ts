import type { StoredMessage, StoredRow } from "./read-database.ts";

/** The first twelve hexadecimal digits of an id: milliseconds times 4096 and a counter, the highest bits cut off. */
const ID_TIME = /^[a-z]+_([0-9a-f]{12})/;
const PER_MS = 4096;
const WRAP = 2 ** 48;

/**
 * Where a part stands: greater than that of all that were made before, and the same in a copy that keeps the times
 * of its ids (1.18.33). The time of the row gives the bits that the id lacks.
 */
export function positionOf({ id, createdMs }: Pick<StoredRow, "id" | "createdMs">): number {
  const digits = ID_TIME.exec(id)?.[1];
  const created = createdMs * PER_MS;
  if (digits === undefined) return created;
  const low = Number.parseInt(digits, 16);
  return Math.round((created - low) / WRAP) * WRAP + low;
}

/** Where the end of a turn stands that a message ends: behind all of it. Nothing else is made in that moment. */
export function endPosition(message: StoredMessage): number {
  return Math.max(positionOf(message), ...message.parts.map(positionOf)) + 1;
}
