import type { FileChange } from "../../domain/file-change.ts";
import type {
  Salvage,
  SalvageContent,
  SalvagedFile,
  SalvagedKind,
  SpecialFile,
} from "../../domain/salvage.ts";
import type { Conflict } from "../../ports/snapshots.ts";
import { COMMITTED, type Files, isIgnored, isSameFiles, type WorkState } from "./workspace-files.ts";

/** By session and number. */
export function inOrder(one: Salvage, other: Salvage): number {
  if (one.sessionId === other.sessionId) return one.number - other.number;
  return one.sessionId < other.sessionId ? -1 : 1;
}

/** Whether a workspace is as it was made. */
export function isUnworked({ files, staged, special }: WorkState): boolean {
  return staged.size === 0 && special.length === 0 && isSameFiles(files, COMMITTED);
}

/** Whether both have the same files, and the same of them staged. */
export function isSameState(one: WorkState, other: WorkState): boolean {
  return (
    isSameFiles(one.files, other.files) &&
    isSameFiles(one.staged, other.staged) &&
    missingOf(one.special, other.special).length + missingOf(other.special, one.special).length === 0
  );
}

/** Those that are wanted and not there. */
export function missingOf(
  wanted: readonly SpecialFile[],
  there: readonly SpecialFile[],
): readonly SpecialFile[] {
  return wanted.filter(({ path, kind }) => !there.some((one) => one.path === path && one.kind === kind));
}

/** The ignored files, and the others. */
export function parted(files: Files): readonly [Files, Files] {
  const all = [...files];
  const ignored = all.filter(([file]) => isIgnored(file));
  return [new Map(ignored), new Map(all.filter(([file]) => !isIgnored(file)))];
}

export interface Putting {
  readonly there: Files;
  /** `null` for a file that has to go. */
  readonly wanted: ReadonlyMap<string, string | null>;
  /** What is held elsewhere. */
  readonly safe: Files;
}

/** The files that would be lost. */
export function fileConflicts({ there, wanted, safe }: Putting): readonly Conflict[] {
  const others = [...wanted].filter(([file, content]) => there.has(file) && there.get(file) !== content);
  const lost = others.filter(([file]) => safe.get(file) !== there.get(file));
  return lost.map(([path]) => ({ path, why: "it is there, other than it was" }));
}

/** Whether something else is staged. */
export function indexConflicts(there: WorkState, wanted: WorkState): readonly Conflict[] {
  if (there.staged.size === 0 || isSameFiles(there.staged, wanted.staged)) return [];
  return [{ path: "index", why: "it holds staged changes" }];
}

/** How many files are not the same in both. */
export function countOther(one: Files, other: Files): number {
  const names = new Set([...one.keys(), ...other.keys()]);
  return [...names].filter((file) => one.get(file) !== other.get(file)).length;
}

/** The files in which two states differ, by path. Lines are not counted one by one: all of both are. */
export function fileChanges(since: Files, now: Files): readonly FileChange[] {
  const names = [...new Set([...since.keys(), ...now.keys()])].sort();
  const others = names.filter((file) => since.get(file) !== now.get(file));
  return others.map((path) => {
    const [before, after] = [since.get(path), now.get(path)];
    const changed = after === undefined ? "deleted" : "changed";
    const kind = before === undefined ? "added" : changed;
    return { path, kind, insertions: linesIn(after), deletions: linesIn(before), content: after ?? null };
  });
}

function linesIn(text = ""): number {
  return text.split("\n").length - 1;
}

/** What is in a salvage. */
export function contentOf(salvage: Salvage, { files, staged, special }: WorkState): SalvageContent {
  const names = [...new Set([...COMMITTED.keys(), ...files.keys(), ...staged.keys()])].sort();
  const items = names.flatMap((path): readonly SalvagedFile[] => {
    const content = files.get(path);
    const kind = kindOf(path, content, staged);
    return kind === undefined ? [] : [{ path, kind, bytes: content === undefined ? null : content.length }];
  });
  return { ...salvage, files: items, special, operations: [], commits: [] };
}

function kindOf(path: string, content: string | undefined, staged: Files): SalvagedKind | undefined {
  if (content === undefined) return "deleted";
  if (staged.get(path) === content) return "staged";
  if (COMMITTED.has(path) || staged.has(path)) return COMMITTED.get(path) === content ? undefined : "changed";
  return isIgnored(path) ? "ignored" : "untracked";
}
