/** The versions of an outside program that `ao` was tested with, both ends included. */
export interface TestedVersions {
  readonly from: string;
  readonly to: string;
  /** When that was, `YYYY-MM-DD`. */
  readonly on: string;
}

/** Whether a version lies in the range; `undefined` when it has no number in it. Parts compare as numbers. Pure. */
export function isTestedVersion(version: string, { from, to }: TestedVersions): boolean | undefined {
  const parts = numbersIn(version);
  if (parts === undefined) return undefined;
  return compare(parts, numbersIn(from) ?? []) >= 0 && compare(parts, numbersIn(to) ?? []) <= 0;
}

/** The first dotted number of a text, for example `2.1.197` of `2.1.197 (Claude Code)`. Pure. */
export function versionIn(text: string): string | undefined {
  return /\d+(?:\.\d+)+/.exec(text)?.[0];
}

function numbersIn(version: string): readonly number[] | undefined {
  return /\d+(?:\.\d+)*/.exec(version)?.[0].split(".").map(Number);
}

function compare(left: readonly number[], right: readonly number[]): number {
  const length = Math.max(left.length, right.length);
  for (let at = 0; at < length; at++) {
    const difference = (left[at] ?? 0) - (right[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
