/** What a JSON object holds, as far as it is read. */
export type Members = Readonly<Record<string, unknown>>;

export function asMembers(value: unknown): Members | undefined {
  return typeof value === "object" && value !== null ? (value as Members) : undefined;
}

/** The members of a JSON object as text; `undefined` for any other text. */
export function membersIn(text: string): Members | undefined {
  if (text.trim() === "") return undefined;
  try {
    return asMembers(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** The records of a log in order, each with its line, from 1; lines that are none, torn for example, are left out. */
export function recordsIn(content: string): readonly { readonly line: number; readonly record: Members }[] {
  return content.split("\n").flatMap((text, index) => {
    const record = membersIn(text);
    return record === undefined ? [] : [{ line: index + 1, record }];
  });
}

/** When a record was written, by its ISO `timestamp`, in Unix milliseconds. */
export function timeOf({ timestamp }: Members): number | null {
  const ms = typeof timestamp === "string" ? Date.parse(timestamp) : Number.NaN;
  return Number.isFinite(ms) ? ms : null;
}
