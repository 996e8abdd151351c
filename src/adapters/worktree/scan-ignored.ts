import type { Dirent } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { classifyIgnored } from "./classify-ignored.ts";

/** What the ignored entries of a worktree hold. */
export interface IgnoredReport {
  /** Files, links and the like that nobody could bring back. */
  readonly files: readonly string[];
  /** Repositories inside ignored folders. Each ends with `/`. */
  readonly nested: readonly string[];
  /** What could not be looked into. */
  readonly unreadable: readonly string[];
}

interface Scan {
  readonly root: string;
  readonly files: string[];
  readonly nested: string[];
  readonly unreadable: string[];
}

/** A folder with more than this is work anyway; the rest of it need not be counted. */
const MAX_FILES = 5_000;

/** Looks through the ignored entries of `git status`; folders of tools are not entered. */
export async function scanIgnored(root: string, entries: readonly string[]): Promise<IgnoredReport> {
  const scan: Scan = { root, files: [], nested: [], unreadable: [] };
  for (const entry of entries) {
    if (entry.endsWith("/")) await scanFolder(scan, entry.slice(0, -1));
    else keep(scan, entry);
  }
  return scan;
}

async function scanFolder(scan: Scan, path: string): Promise<void> {
  if (scan.files.length >= MAX_FILES) return;
  const entries = await list(scan, path);
  if (isRepository(entries)) return void scan.nested.push(`${path}/`);
  const isTool = classifyIgnored(`${path}/`) === "tool" || entries.some(({ name }) => name === "pyvenv.cfg");
  if (isTool) return scanPackages(scan, path, entries);
  for (const entry of entries) {
    const below = join(path, entry.name);
    if (entry.isDirectory()) await scanFolder(scan, below);
    else keep(scan, below);
  }
}

/** With a `.git` in it, or bare (gitrepository-layout(5)). */
function isRepository(entries: readonly Dirent[]): boolean {
  const names = new Set(entries.map(({ name }) => name));
  return names.has(".git") || ["HEAD", "objects", "refs"].every((name) => names.has(name));
}

function keep(scan: Scan, path: string): void {
  const kind = classifyIgnored(path);
  if (kind === "precious" || kind === "work") scan.files.push(path);
}

/** A package that somebody works on in place is a repository right below, or below a scope or `src`. */
async function scanPackages(scan: Scan, path: string, entries: readonly Dirent[]): Promise<void> {
  for (const entry of entries) {
    if (!entry.isDirectory()) continue;
    const below = join(path, entry.name);
    if (await hasGit(join(scan.root, below))) scan.nested.push(`${below}/`);
    else if (entry.name === "src" || entry.name.startsWith("@")) {
      await scanPackages(scan, below, await list(scan, below));
    }
  }
}

async function list(scan: Scan, path: string): Promise<readonly Dirent[]> {
  try {
    return await readdir(join(scan.root, path), { withFileTypes: true });
  } catch {
    scan.unreadable.push(path);
    return [];
  }
}

async function hasGit(folder: string): Promise<boolean> {
  return lstat(join(folder, ".git")).then(
    () => true,
    () => false,
  );
}
