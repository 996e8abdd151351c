/** Something of a runtime that may still be there, as `details.left` tells it. */
export interface Leftover {
  readonly what: string;
  readonly where: string;
  readonly why: string;
}

/** Leftovers as one part of a sentence. Pure. */
export function describeLeft(left: readonly Leftover[]): string {
  return left.map(({ what, where, why }) => `${what} ${where}: ${why}`).join("; ");
}
