import { type ExecFileException, execFile } from "node:child_process";
import { AoError } from "../../../../domain/errors.ts";

const GIT_TIMEOUT_MS = 60_000;
const FALLBACK_IDENTITY = ["-c", "user.name=ao embedded agent", "-c", "user.email=agent@ao.invalid"];

interface GitResult {
  readonly ok: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CommitRequest {
  readonly root: string;
  /** Relative to `root`; those that git ignores or does not know any more are left out. */
  readonly paths: readonly string[];
  readonly message: string;
  readonly signal: AbortSignal;
}

function runGit(request: CommitRequest, args: readonly string[]): Promise<GitResult> {
  const options = {
    cwd: request.root,
    signal: request.signal,
    timeout: GIT_TIMEOUT_MS,
    maxBuffer: 16 * 1024 * 1024,
    env: { ...process.env, LC_ALL: "C.UTF-8", GIT_TERMINAL_PROMPT: "0", GIT_EDITOR: "true" },
  };
  return new Promise((resolve) => {
    const settle = (error: ExecFileException | null, stdout: string, stderr: string) =>
      resolve({ ok: error === null, stdout, stderr: stderr.trim() || (error?.message ?? "") });
    execFile("git", ["--literal-pathspecs", ...args], options, settle).stdin?.end();
  });
}

async function git(request: CommitRequest, args: readonly string[]): Promise<string> {
  const result = await runGit(request, args);
  request.signal.throwIfAborted();
  if (!result.ok) throw new AoError("git_failed", result.stderr);
  return result.stdout;
}

/** Nothing when the user told git who they are; git's own guess from the host name does not count. */
async function identityArgs(request: CommitRequest): Promise<readonly string[]> {
  const identity = await runGit(request, ["-c", "user.useConfigOnly=true", "var", "GIT_AUTHOR_IDENT"]);
  return identity.ok ? [] : FALLBACK_IDENTITY;
}

async function committablePaths(request: CommitRequest): Promise<readonly string[]> {
  if (request.paths.length === 0) return [];
  const listed = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", ...request.paths];
  return [...new Set((await git(request, listed)).split("\0"))].filter((path) => path !== "");
}

/**
 * Commits the given files as they are, and nothing else that is changed or staged.
 *
 * Returns the abbreviated commit, or `null` when there was nothing to commit.
 *
 * @throws AoError git_failed with what git said.
 */
export async function commitFiles(request: CommitRequest): Promise<string | null> {
  const paths = await committablePaths(request);
  if (paths.length === 0) return null;
  await git(request, ["add", "-A", "--", ...paths]);
  if (await isUnchanged(request, paths)) return null;
  const identity = await identityArgs(request);
  await git(request, [...identity, "commit", "--quiet", `--message=${request.message}`, "--", ...paths]);
  return (await git(request, ["rev-parse", "--short", "HEAD"])).trim();
}

/** Whether the files are in the index as in `HEAD`; before the first commit they never are. */
async function isUnchanged(request: CommitRequest, paths: readonly string[]): Promise<boolean> {
  return (await git(request, ["status", "--porcelain", "-z", "--", ...paths])) === "";
}
