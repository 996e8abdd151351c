/** A JSON object as far as it is read. */
export type Members = Readonly<Record<string, unknown>>;

export function asMembers(value: unknown): Members | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Members)
    : undefined;
}
