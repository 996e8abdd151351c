import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { delimiter, isAbsolute, join } from "node:path";
import { errorMessage, isAoError } from "../../domain/errors.ts";
import type { ToolCheck } from "../../ports/tool-check.ts";
import { outputOf } from "./git-failure.ts";
import { type Git, inDirectory } from "./run-git.ts";

/** Oldest git that this adapter is written for; `%(worktreepath)` came with 2.23. */
const NEEDED = "2.25";
const INSTALL_HINT = `install git ${NEEDED} or later`;

/** Whether git is there and new enough. Never rejects. */
export async function checkGit(git: Git): Promise<ToolCheck> {
  try {
    const result = await git.read(inDirectory("/"), ["--version"]);
    const said = outputOf(result, "tell its version");
    const version = parseGitVersion(said);
    if (version === undefined) return { kind: "failed", cause: `git --version said ${said.trim()}` };
    if (!isNewEnough(version)) return { kind: "too_old", version, needed: NEEDED, hint: INSTALL_HINT };
    return { kind: "ok", version, path: await locate(git) };
  } catch (error) {
    const missing = isAoError(error, "git_unavailable") && error.details["program"] !== undefined;
    if (missing) return { kind: "missing", hint: INSTALL_HINT };
    return { kind: "failed", cause: errorMessage(error) };
  }
}

/** `2.39.5` of `git version 2.39.5 (Apple Git-154)`; `undefined` when it is no such line. */
export function parseGitVersion(text: string): string | undefined {
  return /^git version (\d+\.\d+(?:\.\d+)*)/.exec(text)?.[1];
}

/** Whether a version as `parseGitVersion` returns it is at least the one needed. */
export function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [neededMajor = 0, neededMinor = 0] = NEEDED.split(".").map(Number);
  return major > neededMajor || (major === neededMajor && minor >= neededMinor);
}

async function locate(git: Git): Promise<string> {
  if (isAbsolute(git.program)) return git.program;
  for (const folder of (git.env["PATH"] ?? "").split(delimiter)) {
    const path = join(folder, git.program);
    const runs = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (runs) return path;
  }
  return git.program;
}
