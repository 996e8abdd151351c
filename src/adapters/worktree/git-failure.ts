import { AoError } from "../../domain/errors.ts";

/** What a call of git answered. */
export interface GitResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** What git complained of, as one clause: its first `fatal:` or `error:` line, else its last line. */
export function gitComplaint(stderr: string): string {
  const lines = stderr.split("\n").filter((line) => line.trim() !== "");
  const complaint = lines.find((line) => /^(fatal|error): /.test(line)) ?? lines.at(-1) ?? "no message";
  return complaint.replace(/^(fatal|error): /, "").trim();
}

/** The output of a call that had to succeed. `action` is what it was for, for example `list branches`. */
export function outputOf(result: GitResult, action: string): string {
  if (result.exitCode === 0) return result.stdout;
  throw gitFailed(action, result.stderr);
}

/** git answered that it could not do it. */
export function gitFailed(action: string, stderr: string, hint?: string): AoError {
  return new AoError("git_failed", `git could not ${action}: ${gitComplaint(stderr)}`, {
    ...(hint === undefined ? {} : { hint }),
    details: { stderr: stderr.slice(-4000) },
  });
}
