import { join } from "node:path";
import { errorMessage } from "../../domain/errors.ts";
import { type IgnoredRule, NO_IGNORED_RULE } from "../../domain/ignored-rule.ts";
import { checkoutDifferences } from "./checkout-differences.ts";
import { entryAt, namesAt } from "./entry-at.ts";
import { type Found, mergeFound } from "./findings.ts";
import { strangeAnswer } from "./git-answer.ts";
import { outputOf } from "./git-failure.ts";
import { ignoredEvidence } from "./ignored-evidence.ts";
import { ignoredJudge } from "./ignored-judge.ts";
import { hiddenChanges, type IndexReport, readIndex } from "./index-entries.ts";
import { liveSockets } from "./live-sockets.ts";
import { localCommits } from "./lost-commits.ts";
import { parseStatus, type StatusReport } from "./parse-status.ts";
import { type Git, type GitLocation, inDirectory } from "./run-git.ts";
import { scanTree, type TreeReport } from "./scan-tree.ts";

/** Without the shortcuts by which git may pass over a file; a file that only looks changed is compared. */
const STATUS = [
  ...["-c", "core.trustctime=true", "-c", "core.checkStat=default", "-c", "core.untrackedCache=false"],
  "status",
  "--porcelain=v2",
  "--branch",
  "-z",
  "--untracked-files=all",
  "--ignored=matching",
  "--no-renames",
];

export interface FilesReport {
  readonly found: Found;
  /** Commit of HEAD; `null` on a branch without commits. */
  readonly head: string | null;
}

export interface FilesOptions {
  /** Folder of the files. */
  readonly root: string;
  readonly where: GitLocation;
  /** Whether submodules are looked into; in a folder that was moved git finds them no more. */
  readonly submodules: boolean;
  /** Where the files belong when they were moved aside; `root` when not given. */
  readonly home?: string;
  /** The user's word on ignored files; asked for only when there are any. Nothing said when not given. */
  readonly rule?: RuleSource;
  /** Leads from where the rule's patterns start to the root: empty, or with `/` at the end. */
  readonly prefix?: string;
}

export type RuleSource = () => Promise<IgnoredRule>;

/**
 * Everything in the files of one working tree that its commits do not have.
 *
 * @throws AoError git_failed when git could not tell.
 */
export async function inspectFiles(git: Git, options: FilesOptions): Promise<FilesReport> {
  const { where, submodules } = options;
  const reading = [readStatus(git, where, submodules), readIndex(git, where)] as const;
  // Both are waited for, so that of two failures it is always the same one that is told.
  await Promise.allSettled(reading);
  const [{ report, complaints }, index] = await Promise.all(reading);
  if (index.tracked.length === 0 && report.staged.length === 0) await requireEmpty(git, where, report.head);
  const paths = [...index.tracked, ...report.untracked, ...report.ignored];
  const [tree, hidden, unlike, links] = await Promise.all([
    scan(options, report, index),
    hiddenChanges(git, options.root, index),
    checkoutDifferences(git, { root: options.root, where, settings: index.settings, paths }),
    inspectGitlinks(git, options, index.gitlinks),
  ]);
  const special = await inspectSpecial(git, options, { special: tree.special, tracked: index.tracked });
  const found: Found = {
    changed: [...report.changed, ...hidden, ...unlike],
    staged: report.staged,
    untracked: [...report.untracked, ...special.untracked],
    ignored: tree.ignored,
    submodule: report.submodules.filter((path) => links.nested_repository?.includes(`${path}/`) !== true),
    in_use: special.live,
    nested_repository: [...report.nested, ...tree.nested],
    unreadable: [...complaints, ...tree.unreadable],
  };
  return { found: mergeFound(found, links), head: report.head };
}

/** An index without entries is right for a commit without files; else git has not told what is in it. */
async function requireEmpty(git: Git, where: GitLocation, head: string | null): Promise<void> {
  if (head === null) return;
  const action = "read the index";
  const tree = outputOf(await git.read(where, ["ls-tree", "-z", head]), action);
  if (tree !== "") throw strangeAnswer(action, "");
}

interface Special {
  readonly untracked: readonly string[];
  /** Sockets that a process has. */
  readonly live: readonly string[];
}

/** git tells of no pipe, socket or device: one that it is not told to ignore is somebody's all the same. */
async function inspectSpecial(
  git: Git,
  { root, home = root, where }: FilesOptions,
  { special, tracked }: { readonly special: readonly string[]; readonly tracked: readonly string[] },
): Promise<Special> {
  const inIndex = new Set(tracked);
  const others = special.filter((path) => !inIndex.has(path));
  if (others.length === 0) return { untracked: [], live: [] };
  const untracked = await withoutIgnored(git, where, others);
  return { untracked, live: await liveSockets([root, home], others) };
}

/** git-check-ignore(1): exit code 1 says that none is. */
async function withoutIgnored(
  git: Git,
  where: GitLocation,
  paths: readonly string[],
): Promise<readonly string[]> {
  const result = await git.read(where, ["check-ignore", "-z", "--stdin"], `${paths.join("\0")}\0`);
  if (result.exitCode === 1) return paths;
  const ignored = new Set(outputOf(result, "tell what is ignored").split("\0"));
  return paths.filter((path) => !ignored.has(path));
}

async function scan(
  { root, home = root, rule, prefix }: FilesOptions,
  { ignored }: StatusReport,
  { tracked, gitlinks }: IndexReport,
): Promise<TreeReport> {
  const said = ignored.length > 0 && rule !== undefined ? await readRule(rule) : NO_IGNORED_RULE;
  const judge = ignoredJudge(
    "problem" in said ? NO_IGNORED_RULE : said,
    ignoredEvidence(root, tracked),
    prefix,
  );
  const report = await scanTree({ root, home, ignored, gitlinks, judge });
  return "problem" in said ? { ...report, unreadable: [...report.unreadable, said.problem] } : report;
}

/** Without the user's word nobody can say which ignored files count. */
async function readRule(rule: RuleSource): Promise<IgnoredRule | { readonly problem: string }> {
  try {
    return await rule();
  } catch (error) {
    return { problem: `the rule for ignored files: ${errorMessage(error)}` };
  }
}

/** git passes over what it cannot open with a mere warning and exit code 0; other warnings are harmless. */
const UNSEEN = /could not open directory|permission denied|input\/output error/i;

async function readStatus(
  git: Git,
  where: GitLocation,
  submodules: boolean,
): Promise<{ readonly report: StatusReport; readonly complaints: readonly string[] }> {
  const args = [...STATUS, `--ignore-submodules=${submodules ? "none" : "all"}`];
  const result = await git.read(where, args);
  const report = parseStatus(outputOf(result, "read the status"));
  return { report, complaints: result.stderr.split("\n").filter((line) => UNSEEN.test(line)) };
}

async function inspectGitlinks(git: Git, outer: FilesOptions, paths: readonly string[]): Promise<Found> {
  let all: Found = {};
  for (const path of paths) all = mergeFound(all, await inspectGitlink(git, outer, path));
  return all;
}

/**
 * A submodule keeps its repository in the worktree's private git directory, so its own commits count; one
 * with a real `.git` folder is embedded whole. git shows no file in the folder of one that was never
 * initialised.
 */
async function inspectGitlink(git: Git, outer: FilesOptions, path: string): Promise<Found> {
  const folder = join(outer.root, path);
  const link = await entryAt(join(folder, ".git"));
  if (link === undefined) {
    const names = await namesAt(folder);
    return { untracked: names.map((name) => join(path, name)) };
  }
  if (!link.isFile()) return { nested_repository: [`${path}/`] };
  if (!outer.submodules) return {};
  const inner = { ...outer, root: folder, home: folder, prefix: `${outer.prefix ?? ""}${path}/` };
  return (await hasWork(git, { ...inner, where: inDirectory(folder) })) ? { submodule: [path] } : {};
}

async function hasWork(git: Git, options: FilesOptions): Promise<boolean> {
  const { where } = options;
  const { found } = await inspectFiles(git, options);
  if (Object.values(found).some((items) => items.length > 0)) return true;
  return (await localCommits(git, where)).length > 0;
}
