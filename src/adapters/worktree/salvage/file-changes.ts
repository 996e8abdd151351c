import type { FileChange } from "../../../domain/file-change.ts";
import { type BytePath, splitNul, textOf } from "./byte-path.ts";
import type { Plumbing } from "./plumbing.ts";

/** `<mode> <mode> <oid> <oid> <letter>` of a raw line (git-diff-tree(1)). */
const RAW = /^:\d+ (\d+) [0-9a-f]+ ([0-9a-f]+) ([A-Z])/;
/** `<insertions>\t<deletions>\t<path>`: both are `-` for a file that is no text. */
const COUNTS = /^(\d+|-)\t(\d+|-)\t/;

const KINDS = new Map<string, FileChange["kind"]>([
  ["A", "added"],
  ["D", "deleted"],
]);

/** The files in which two trees differ, by path. Neither filters nor drivers of the user are run. */
export async function fileChanges(
  plumbing: Plumbing,
  since: string,
  now: string,
): Promise<readonly FileChange[]> {
  const args = ["diff-tree", "-r", "-z", "--raw", "--numstat", "--no-abbrev", "--no-renames"];
  const plain = ["--no-ext-diff", "--no-textconv"];
  return parseChanges(await plumbing.tell("compare the files", [...args, ...plain, since, now]));
}

/** A raw line, each followed by its path; after all of them the counts, in the same order. */
function parseChanges(output: string): readonly FileChange[] {
  const parts = splitNul(output);
  const isRaw = (part: string | undefined) => part !== undefined && RAW.test(part);
  const changes: Change[] = [];
  let at = 0;
  for (; isRaw(parts[at]); at += 2) changes.push(changeOf(parts[at] ?? "", parts[at + 1] ?? ""));
  return changes.map((change, index) => ({ ...change, ...countsOf(parts[at + index] ?? "") }));
}

type Change = Omit<FileChange, "insertions" | "deletions">;

function changeOf(raw: string, path: BytePath): Change {
  const [, mode = "", oid = "", letter = ""] = RAW.exec(raw) ?? [];
  const kind = KINDS.get(letter) ?? "changed";
  return { path: textOf(path), kind, content: kind === "deleted" ? null : `${mode} ${oid}` };
}

function countsOf(line: string): Pick<FileChange, "insertions" | "deletions"> {
  const [, insertions = "-", deletions = "-"] = COUNTS.exec(line) ?? [];
  return { insertions: countOf(insertions), deletions: countOf(deletions) };
}

function countOf(text: string): number | null {
  return text === "-" ? null : Number(text);
}
