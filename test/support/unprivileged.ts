import { chownSync } from "node:fs";

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
