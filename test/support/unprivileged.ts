import { execFileSync } from "node:child_process";
import { chownSync } from "node:fs";
import { onTestFinished } from "vitest";

const NOBODY = 65_534;

/**
 * Does this as a user whom modes bind, as they do not bind root; the folders are that user's from now on.
 * Nothing else of this process may run meanwhile: `work` has done all when it returns.
 */
export function unprivileged<Result>(folders: readonly string[], work: () => Result): Result {
  if (process.geteuid?.() !== 0) return work();
  for (const folder of folders) chownSync(folder, NOBODY, NOBODY);
  process.seteuid?.(NOBODY);
  try {
    return work();
  } finally {
    process.seteuid?.(0);
  }
}

/**
 * To the end of the test this process, and what it starts, is bound by modes; the folders are its user's, with all in
 * them.
 */
export function becomeUnprivileged(folders: readonly string[]): void {
  if (process.geteuid?.() !== 0) return;
  giveAway(folders);
  process.seteuid?.(NOBODY);
  onTestFinished(() => process.seteuid?.(0));
}

/** Makes folders another user's, with all in them. False where that is not allowed. */
export function giveAway(folders: readonly string[]): boolean {
  if (process.geteuid?.() !== 0) return false;
  execFileSync("chown", ["-R", `${NOBODY}:${NOBODY}`, "--", ...folders]);
  return true;
}
