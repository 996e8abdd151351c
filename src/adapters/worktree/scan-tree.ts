import type { Dirent } from "node:fs";
import { readdir, readlink } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { IgnoredJudge } from "./ignored-judge.ts";
import { isBelow } from "./safe-path.ts";

/** What lies in a working tree and `git status` does not tell. */
export interface TreeReport {
  /** Ignored files, links and the like that nobody could bring back, sorted. */
  readonly ignored: readonly string[];
  /** Repositories, also those that git does not see: in a tracked or an ignored folder. Each ends with `/`. */
  readonly nested: readonly string[];
  /** What could not be looked into. */
  readonly unreadable: readonly string[];
}

export interface ScanOptions {
  readonly root: string;
  /** Where the tree belongs when it was moved aside; else the same as `root`. */
  readonly home: string;
  /** Ignored entries of `git status`; a folder ends with `/`. */
  readonly ignored: readonly string[];
  /** Folders of other repositories that are looked into elsewhere. */
  readonly gitlinks: readonly string[];
  readonly judge: IgnoredJudge;
  /** A tree with more folders than this is not looked through, and kept. */
  readonly maxFolders?: number;
}

interface Scan extends Omit<ScanOptions, "ignored" | "gitlinks"> {
  readonly maxFolders: number;
  readonly elsewhere: ReadonlySet<string>;
  readonly files: string[];
  readonly nested: string[];
  readonly unreadable: string[];
  folders: number;
}

/** About four seconds. */
const MAX_FOLDERS = 50_000;

/**
 * Opens every folder of a working tree: the ignored ones for what would be lost, all of them for other
 * repositories. Links are not followed.
 */
export async function scanTree(options: ScanOptions): Promise<TreeReport> {
  const { ignored, gitlinks } = options;
  const folders = ignored.filter((entry) => entry.endsWith("/")).map((entry) => entry.slice(0, -1));
  const elsewhere = new Set([...folders, ...gitlinks]);
  const maxFolders = options.maxFolders ?? MAX_FOLDERS;
  const scan: Scan = { ...options, maxFolders, elsewhere, files: [], nested: [], unreadable: [], folders: 0 };
  for (const entry of ignored) if (!entry.endsWith("/")) keepWork(scan, entry);
  for (const folder of folders) await scanIgnored(scan, folder);
  await findRepositories(scan, "");
  const { files, nested, unreadable } = scan;
  return { ignored: files.sort(), nested: nested.sort(), unreadable };
}

/** Every folder that git does not ignore; its files are the business of `git status`. */
async function findRepositories(scan: Scan, path: string): Promise<void> {
  const entries = await list(scan, path);
  if (path !== "" && hasGit(entries)) return void scan.nested.push(`${path}/`);
  const below = folderNames(entries).map((name) => join(path, name));
  const ours = path === "" ? below.filter((name) => name !== ".git") : below;
  await Promise.all(
    ours.filter((name) => !scan.elsewhere.has(name)).map((name) => findRepositories(scan, name)),
  );
}

async function scanIgnored(scan: Scan, path: string): Promise<void> {
  const entries = await list(scan, path);
  const isTool = scan.judge.judge(`${path}/`) === "tool";
  // What tools download may hold bare repositories for its own tests.
  if (hasGit(entries) || (!isTool && isBare(entries))) return void scan.nested.push(`${path}/`);
  const others = entries.filter((entry) => !entry.isDirectory());
  if (!isTool || scan.judge.looksEverywhere) for (const { name } of others) keepWork(scan, join(path, name));
  if (isTool) await keepLinked(scan, path, others);
  await Promise.all(folderNames(entries).map((name) => scanIgnored(scan, join(path, name))));
}

function keepWork(scan: Scan, path: string): void {
  if (scan.judge.judge(path) === "work") scan.files.push(path);
}

/** A package that somebody works on elsewhere is a link out of the worktree (npm-link(1)). */
async function keepLinked(scan: Scan, path: string, entries: readonly Dirent[]): Promise<void> {
  if (!/(^|\/)node_modules(\/|$)/.test(path)) return;
  for (const entry of entries) {
    const link = join(path, entry.name);
    if (entry.isSymbolicLink() && (await leadsOut(scan, link))) scan.files.push(link);
  }
}

async function leadsOut({ root, home }: Scan, link: string): Promise<boolean> {
  const target = await readlink(join(root, link)).catch(() => "/");
  const led = resolve(dirname(join(root, link)), target);
  return !isBelow(root, led) && !isBelow(home, led);
}

const hasGit = (entries: readonly Dirent[]): boolean => entries.some(({ name }) => name === ".git");

/** A bare repository (gitrepository-layout(5)). */
function isBare(entries: readonly Dirent[]): boolean {
  const names = new Set(entries.map(({ name }) => name));
  return ["HEAD", "objects", "refs"].every((name) => names.has(name));
}

const folderNames = (entries: readonly Dirent[]): readonly string[] =>
  entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);

function tooMany({ maxFolders }: Scan, path: string): string {
  return `${path}: there are more than ${maxFolders} folders, and the rest was not looked into`;
}

async function list(scan: Scan, path: string): Promise<readonly Dirent[]> {
  scan.folders += 1;
  if (scan.folders === scan.maxFolders + 1) scan.unreadable.push(tooMany(scan, path));
  if (scan.folders > scan.maxFolders) return [];
  try {
    return await readdir(join(scan.root, path), { withFileTypes: true });
  } catch {
    scan.unreadable.push(path === "" ? scan.root : path);
    return [];
  }
}
