/** The value that a column holds as JSON; `undefined` when it holds none. */
export function parseJson(column: unknown): unknown {
  if (typeof column !== "string") return undefined;
  try {
    return JSON.parse(column);
  } catch {
    return undefined;
  }
}
