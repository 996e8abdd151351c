import { hasErrorCode } from "../../domain/error-code.ts";

/** Largest value of pid_t. */
const MAX_PID = 2 ** 31 - 1;

/**
 * Whether some process has this pid, also one of another user, also a zombie (kill(2) with signal 0).
 * Only a positive pid is asked about: 0 and less address groups of processes.
 */
export function isThere(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0 || pid > MAX_PID) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !hasErrorCode(error, "ESRCH");
  }
}
