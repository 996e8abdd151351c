/** Equal for two names of one issue: they are compared without regard to case, as trackers do. Pure. */
export function issueKey(issueId: string): string {
  return issueId.toLowerCase();
}
