/** Whether an error is of the system or of Node and carries one of these codes, for example `ENOENT`. */
export function hasErrorCode(error: unknown, ...codes: readonly string[]): boolean {
  if (!(error instanceof Error && "code" in error)) return false;
  return typeof error.code === "string" && codes.includes(error.code);
}
