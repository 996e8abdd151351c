import { readdir, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { isAoError } from "../../../domain/errors.ts";
import type { PlumbingPlace } from "./plumbing.ts";

/**
 * Runs a `git fast-import`; one that fails leaves a report in the git directory, which says nothing new
 * (git-fast-import(1), "CRASH REPORTS"), and what it had written of its pack, which may be all the room of a disk.
 * Both are taken away again, the pack when git names it (csum-file.c, 2.39.5); others are git's to clear.
 */
export async function leavingNothing(
  { gitDir, commonDir }: Pick<PlumbingPlace, "gitDir" | "commonDir">,
  run: () => Promise<void>,
): Promise<void> {
  const known = await reportsIn(gitDir);
  try {
    await run();
  } catch (error) {
    const reports = (await reportsIn(gitDir)).filter((name) => !known.includes(name));
    const left = [...reports.map((name) => join(gitDir, name)), ...packsNamedIn(error, commonDir)];
    for (const path of left) await rm(path, { force: true });
    throw error;
  }
}

async function reportsIn(gitDir: string): Promise<readonly string[]> {
  return (await readdir(gitDir)).filter((name) => /^fast_import_crash_\d+$/.test(name));
}

function packsNamedIn(error: unknown, commonDir: string): readonly string[] {
  const stderr = isAoError(error, "git_failed") ? String(error.details["stderr"]) : "";
  const named = [...stderr.matchAll(/'([^'\n]+\/tmp_pack_\w+)'/g)].map(([, path = ""]) => resolve(path));
  return named.filter((path) => dirname(path) === join(commonDir, "objects", "pack"));
}
