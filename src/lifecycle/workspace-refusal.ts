import { type AoError, errorMessage, isAoError } from "../domain/errors.ts";
import type { WorkspaceFinding } from "../domain/workspace-finding.ts";

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
