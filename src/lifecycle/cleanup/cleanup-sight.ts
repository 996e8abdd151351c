import type { Candidate } from "../../domain/cleanup-plan.ts";
import { AoError } from "../../domain/errors.ts";

/**
 * The facts of one candidate. A look that failed is taken once more: what fails the same way again is that worktree's
 * own trouble.
 *
 * @throws AoError git_unavailable when the second look says something else: no answer can be relied on then.
 */
export async function lookSurely(look: () => Promise<Candidate>): Promise<Candidate> {
  const first = await look();
  const trouble = troubleOf(first);
  if (trouble === null) return first;
  const second = await look();
  if (troubleOf(second) === trouble) return second;
  throw new AoError("git_unavailable", `git gave two answers to one question, the first: ${trouble}`, {
    hint: "nothing was removed; try again when git works: ao doctor",
  });
}

/**
 * Nobody can tell a broken worktree from a broken git when there is nothing but failures.
 *
 * @throws AoError git_unavailable when worktrees were looked into and each look failed.
 */
export function requireSomeSight(candidates: readonly Candidate[]): void {
  const troubles = candidates.filter(({ workspace }) => workspace !== null).map(troubleOf);
  const [trouble] = troubles;
  if (trouble === undefined || trouble === null || troubles.includes(null)) return;
  throw new AoError("git_unavailable", `could not look into any worktree, the first: ${trouble}`, {
    hint: "nothing was removed; see what is wrong: ao doctor",
  });
}

/** Why it could not be looked into; `null` when it was, or did not have to be. */
function troubleOf({ workspace }: Candidate): string | null {
  return workspace?.kind === "stays" && workspace.why.kind === "error" ? workspace.why.message : null;
}
