import { type AoError, errorMessage, isAoError } from "../domain/errors.ts";
import { shellQuoted } from "../domain/shell-quoted.ts";
import type { FindingKind, WorkspaceFinding } from "../domain/workspace-finding.ts";

/** Whether an error says that a workspace was left as it is because of what it holds or where it is. */
export function isRefusal(error: unknown): error is AoError {
  return isAoError(error, "workspace_dirty") || isAoError(error, "workspace_unsafe_path");
}

/** What a workspace that was refused holds, as its adapter told; empty for any other error. */
export function findingsIn(error: unknown): readonly WorkspaceFinding[] {
  const findings = isAoError(error, "workspace_dirty") ? error.details["findings"] : undefined;
  return Array.isArray(findings) ? (findings as readonly WorkspaceFinding[]) : [];
}

/** What was found, as one clause. */
export function describeFindings(findings: readonly WorkspaceFinding[]): string {
  return findings.map(({ detail }) => detail).join(", ");
}

/** Why a workspace was refused, as one clause. */
export function describeRefusal(error: unknown): string {
  return describeFindings(findingsIn(error)) || errorMessage(error);
}

const COMMIT = "commit what counts (the branch stays, pushed or not)";

/** What to do about each kind of finding, so that a worktree may go. */
const ADVICE: Readonly<Record<FindingKind, string>> = {
  missing: "find out where it is",
  changed: COMMIT,
  staged: COMMIT,
  untracked: COMMIT,
  ignored: "move the ignored files that count elsewhere, or commit them with git add -f",
  operation_in_progress: "finish or abort what git has under way (git status says how)",
  unreachable_commits: "put the commits on a branch (git branch NAME COMMIT)",
  submodule: "commit and push in the submodules",
  nested_repository: "push what the repositories inside hold, or move them out",
  locked: "unlock it (git worktree unlock .)",
  in_use: "end or move out what uses it",
  unreadable: "make readable what could not be read",
};

/** Whether somebody took the worktree from its place. */
export function isMissing(refusal: AoError): boolean {
  return findingsIn(refusal).some(({ kind }) => kind === "missing");
}

/** Nobody but its user knows whether it was moved or deleted. */
function adviceOnMissing(refusal: AoError, path: string): string {
  const repository = shellQuoted(String(refusal.details["repositoryPath"] ?? "."));
  const known = findingsIn(refusal).filter(({ kind }) => kind !== "missing");
  const rest = known.length === 0 ? "" : `, which also drops ${describeFindings(known)}`;
  return (
    `if it was moved: move it back to ${path}, or tell git: git -C ${repository} worktree repair <where it is now>; ` +
    `if it was deleted: git -C ${repository} worktree prune${rest}`
  );
}

/** What to do in a worktree that was refused, in words for a person: one clause for each kind of finding. */
export function adviceOn(refusal: AoError, workspacePath: string): string {
  const movedTo = refusal.details["movedTo"];
  if (movedTo !== undefined && refusal.hint !== null) return refusal.hint;
  if (isMissing(refusal)) return adviceOnMissing(refusal, workspacePath);
  if (isAoError(refusal, "workspace_unsafe_path")) {
    return `look at what is there and move it away: ls -la ${shellQuoted(workspacePath)}`;
  }
  const kinds = findingsIn(refusal).map(({ kind }) => kind);
  const clauses = [...new Set(kinds.map((kind) => ADVICE[kind]))];
  return `in ${workspacePath}: ${clauses.join("; ") || "look at what is there (git status --ignored)"}`;
}
