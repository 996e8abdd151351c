import type { Dirent } from "node:fs";
import { readdir, readlink } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { IgnoredJudge } from "./ignored-judge.ts";
import { isBelow } from "./safe-path.ts";
import { type BytePath, below, placeOf, textOf } from "./salvage/byte-path.ts";
import { pathsLike } from "./salvage/ignored-files.ts";

/** What lies in a working tree and `git status` does not tell. */
export interface TreeReport {
  /** Ignored files, links and the like that nobody could bring back, sorted. */
  readonly ignored: readonly string[];
  /** Repositories, also those that git does not see: in a tracked or an ignored folder. Each ends with `/`. */
  readonly nested: readonly string[];
  /** Pipes, sockets and devices outside of ignored folders, of which git does not tell. */
  readonly special: readonly string[];
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
  readonly elsewhere: ReadonlySet<BytePath>;
  readonly files: string[];
  readonly nested: string[];
  readonly special: string[];
  readonly unreadable: string[];
  folders: number;
}

/** About four seconds. */
const MAX_FOLDERS = 50_000;

/**
 * Opens every folder of a working tree: the ignored ones for what would be lost, all of them for other
 * repositories. Links are not followed. Names need not be UTF-8: what is no text is told with U+FFFD in its place.
 */
export async function scanTree(options: ScanOptions): Promise<TreeReport> {
  const { root, ignored, gitlinks } = options;
  const told = ignored.filter((entry) => entry.endsWith("/"));
  const folders = [...new Set(told.flatMap((entry) => pathsLike(root, entry)))];
  const elsewhere = new Set([...folders, ...gitlinks.flatMap((path) => pathsLike(root, path))]);
  const maxFolders = options.maxFolders ?? MAX_FOLDERS;
  const nothing = { files: [], nested: [], special: [], unreadable: [], folders: 0 };
  const scan: Scan = { ...options, maxFolders, elsewhere, ...nothing };
  for (const entry of ignored) if (!entry.endsWith("/")) keepWork(scan, entry);
  for (const entry of told) if (pathsLike(root, entry).length === 0) scan.unreadable.push(entry);
  for (const folder of folders) await scanIgnored(scan, folder);
  await findRepositories(scan, "");
  const { files, nested, special, unreadable } = scan;
  return { ignored: files.sort(), nested: nested.sort(), special: special.sort(), unreadable };
}

/** Every folder that git does not ignore; its files are the business of `git status`. */
async function findRepositories(scan: Scan, path: BytePath): Promise<void> {
  const entries = await list(scan, path);
  if (path !== "" && hasGit(entries)) return void scan.nested.push(`${textOf(path)}/`);
  for (const entry of entries.filter(isSpecial)) scan.special.push(textOf(below(path, nameOf(entry))));
  const inside = folderNames(entries).map((name) => below(path, name));
  const ours = path === "" ? inside.filter((name) => name !== ".git") : inside;
  await Promise.all(
    ours.filter((name) => !scan.elsewhere.has(name)).map((name) => findRepositories(scan, name)),
  );
}

async function scanIgnored(scan: Scan, path: BytePath): Promise<void> {
  const entries = await list(scan, path);
  const isTool = scan.judge.judge(`${textOf(path)}/`) === "tool";
  // What tools download may hold bare repositories for its own tests.
  if (hasGit(entries) || (!isTool && isBare(entries))) return void scan.nested.push(`${textOf(path)}/`);
  const others = entries.filter((entry) => !entry.isDirectory());
  if (!isTool || scan.judge.looksEverywhere)
    for (const entry of others) keepWork(scan, textOf(below(path, nameOf(entry))));
  if (isTool) await keepLinked(scan, path, others);
  await Promise.all(folderNames(entries).map((name) => scanIgnored(scan, below(path, name))));
}

function keepWork(scan: Scan, path: string): void {
  if (scan.judge.judge(path) === "work") scan.files.push(path);
}

/** A package that somebody works on elsewhere is a link out of the worktree (npm-link(1)). */
async function keepLinked(scan: Scan, path: BytePath, entries: readonly Entry[]): Promise<void> {
  if (!/(^|\/)node_modules(\/|$)/.test(path)) return;
  for (const entry of entries) {
    const link = below(path, nameOf(entry));
    if (entry.isSymbolicLink() && (await leadsOut(scan, link))) scan.files.push(textOf(link));
  }
}

async function leadsOut({ root, home }: Scan, link: BytePath): Promise<boolean> {
  const target = await readlink(placeOf(root, link)).catch(() => "/");
  const led = resolve(dirname(join(root, textOf(link))), target);
  return !isBelow(root, led) && !isBelow(home, led);
}

type Entry = Dirent<Buffer>;

/** One character a byte. */
const nameOf = (entry: Entry): BytePath => entry.name.toString("latin1");

const hasGit = (entries: readonly Entry[]): boolean => entries.some((entry) => nameOf(entry) === ".git");

/** A bare repository (gitrepository-layout(5)). */
function isBare(entries: readonly Entry[]): boolean {
  const names = new Set(entries.map(nameOf));
  return ["HEAD", "objects", "refs"].every((name) => names.has(name));
}

const isSpecial = (entry: Entry): boolean =>
  entry.isFIFO() || entry.isSocket() || entry.isBlockDevice() || entry.isCharacterDevice();

const folderNames = (entries: readonly Entry[]): readonly BytePath[] =>
  entries.filter((entry) => entry.isDirectory()).map(nameOf);

function tooMany({ maxFolders }: Scan, path: BytePath): string {
  return `${textOf(path)}: there are more than ${maxFolders} folders, and the rest was not looked into`;
}

async function list(scan: Scan, path: BytePath): Promise<readonly Entry[]> {
  scan.folders += 1;
  if (scan.folders === scan.maxFolders + 1) scan.unreadable.push(tooMany(scan, path));
  if (scan.folders > scan.maxFolders) return [];
  try {
    return await readdir(placeOf(scan.root, path), { withFileTypes: true, encoding: "buffer" });
  } catch {
    scan.unreadable.push(path === "" ? scan.root : textOf(path));
    return [];
  }
}
