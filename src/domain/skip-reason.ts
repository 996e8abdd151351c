import type { FindingKind, SkipReason, WorkspaceFinding } from "./workspace-finding.ts";

const REASON_OF: Readonly<Record<FindingKind, SkipReason>> = {
  missing: "no_workspace",
  unreadable: "unknown",
  in_use: "in_use",
  locked: "locked",
  operation_in_progress: "operation_in_progress",
  changed: "dirty",
  staged: "dirty",
  submodule: "dirty",
  nested_repository: "dirty",
  untracked: "untracked",
  ignored: "ignored_files",
  unreachable_commits: "unmerged_commits",
};

/** What cannot be judged, then what is in use, not there or under way, then work by how easily it is lost. */
const MOST_TELLING_FIRST: readonly SkipReason[] = [
  "unknown",
  "in_use",
  "locked",
  "no_workspace",
  "operation_in_progress",
  "dirty",
  "untracked",
  "ignored_files",
  "unmerged_commits",
];

/** The one reason a cleanup gives for leaving a workspace with these findings; `unknown` without any. */
export function skipReasonFor(findings: readonly WorkspaceFinding[]): SkipReason {
  const reasons = new Set(findings.map(({ kind }) => REASON_OF[kind]));
  return MOST_TELLING_FIRST.find((reason) => reasons.has(reason)) ?? "unknown";
}
