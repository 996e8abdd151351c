/**
 * Whether some process has this pid, also one of another user, also a zombie (kill(2) with signal 0).
 * Only a positive pid is asked about: 0 and less address groups of processes.
 */
export function isThere(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code !== "ESRCH";
  }
}
