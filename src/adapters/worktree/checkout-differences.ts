import { lstatSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { mayConvert } from "./attribute-files.ts";
import type { CheckoutSettings } from "./checkout-settings.ts";
import type { Git, GitLocation } from "./run-git.ts";
import { type BytePath, placeOf, splitNul, textOf } from "./salvage/byte-path.ts";
import { convertedFiles } from "./salvage/converted-files.ts";
import { type Plumbing, plumbingAt } from "./salvage/plumbing.ts";
import { type CheckedFile, unlikeCheckout } from "./unlike-checkout.ts";
import { readGitLink } from "./worktree-records.ts";

export interface ComparedTree {
  readonly root: string;
  readonly where: GitLocation;
  readonly settings: CheckoutSettings;
  /** All paths that git knows or showed; among them the files of attributes. */
  readonly paths: readonly string[];
}

/**
 * Tracked files that git calls unchanged although a checkout would not give them back: a conversion loses something
 * on their way in (gitattributes(5), `core.autocrlf`), or git was told not to look at modes. Where nothing is
 * converted that takes no run of git.
 *
 * @throws AoError git_failed, git_unavailable when git cannot tell.
 */
export async function checkoutDifferences(git: Git, tree: ComparedTree): Promise<readonly string[]> {
  const { root, settings } = tree;
  const gitDir = await gitDirOf(tree);
  const commonDir = await commonDirOf(gitDir);
  const { attributesFile, autocrlf, fileMode } = settings;
  const sources = { root, commonDir, paths: tree.paths, attributesFile, env: git.env };
  const isConverted = autocrlf || (await mayConvert(sources));
  if (!isConverted && fileMode) return [];
  const plumbing = plumbingAt(git, { gitDir, commonDir, root });
  const files = await trackedFiles(plumbing, root);
  const modes = fileMode ? [] : otherModes(root, files);
  const converted = isConverted ? await otherBytes(plumbing, { root, autocrlf, files }) : [];
  return [...new Set([...modes, ...converted])].map(textOf);
}

async function gitDirOf({ root, where }: ComparedTree): Promise<string> {
  if (where.kind === "git_dir") return where.gitDir;
  const link = await readGitLink(root);
  switch (link.kind) {
    case "link":
      return link.gitDir;
    case "repository":
      return join(root, ".git");
    case "broken":
      throw new Error(link.cause);
  }
}

/** gitrepository-layout(5), `commondir` */
async function commonDirOf(gitDir: string): Promise<string> {
  const text = await readFile(join(gitDir, "commondir"), "utf8").catch(() => ".");
  return resolve(gitDir, text.trim());
}

interface TrackedFile extends CheckedFile {
  readonly mode: string;
}

/** Plain files without a conflict that are there. */
async function trackedFiles(plumbing: Plumbing, root: string): Promise<readonly TrackedFile[]> {
  const entries = splitNul(await plumbing.tell("read the index", ["ls-files", "-s", "-z"]));
  return entries.flatMap((entry) => {
    const [, mode, oid, path] = /^(100644|100755) ([0-9a-f]+) 0\t(.*)$/s.exec(entry) ?? [];
    if (mode === undefined || oid === undefined || path === undefined) return [];
    const isThere = lstatSync(placeOf(root, path), { throwIfNoEntry: false })?.isFile() === true;
    return isThere ? [{ path, mode, oid }] : [];
  });
}

/** Where even the file that git writes for itself may be executed, the file system knows no modes. */
function otherModes(root: string, files: readonly TrackedFile[]): readonly BytePath[] {
  if (mayRun(root, ".git") === true) return [];
  return files
    .filter(
      ({ path, mode }) => mayRun(root, path) !== undefined && mayRun(root, path) !== (mode === "100755"),
    )
    .map(({ path }) => path);
}

function mayRun(root: string, path: BytePath): boolean | undefined {
  const entry = lstatSync(placeOf(root, path), { throwIfNoEntry: false });
  return entry?.isFile() === true ? (entry.mode & 0o100) !== 0 : undefined;
}

async function otherBytes(
  plumbing: Plumbing,
  tree: { readonly root: string; readonly autocrlf: boolean; readonly files: readonly TrackedFile[] },
): Promise<readonly BytePath[]> {
  const { root, autocrlf, files } = tree;
  const paths = new Set(await convertedFiles({ plumbing, root, isAuto: autocrlf }, files));
  const converted = files.filter(({ path }) => paths.has(path));
  return unlikeCheckout(plumbing, root, converted);
}
