const UNITS = [
  ["w", 7 * 86_400_000],
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
] as const;

/** How long ago a moment was, roughly: `12s`, `5m`, `3h`, `2d`, `6w`; `-` for none. */
export function age(atMs: number | null, nowMs: number): string {
  if (atMs === null) return "-";
  const passedMs = Math.max(0, nowMs - atMs);
  const unit = UNITS.find(([, unitMs]) => passedMs >= unitMs);
  return unit ? `${Math.floor(passedMs / unit[1])}${unit[0]}` : `${Math.floor(passedMs / 1000)}s`;
}
