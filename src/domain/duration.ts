const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/**
 * Parses `500ms`, `90s`, `30m`, `12h`, `2d`, `1w` or a plain number of seconds; fractions are allowed.
 *
 * Returns whole milliseconds, or `undefined` for anything else: another unit, a sign, two parts, or more
 * than a number can count exactly.
 */
export function parseDuration(text: string): number | undefined {
  const [, amount, unit = "s"] = /^(\d{1,16}(?:\.\d{1,9})?)(ms|[smhdw])?$/.exec(text) ?? [];
  const unitMs = UNIT_MS[unit];
  if (amount === undefined || unitMs === undefined) return undefined;
  const durationMs = Math.round(Number(amount) * unitMs);
  return Number.isSafeInteger(durationMs) ? durationMs : undefined;
}
