/** What `git status` said, each list in git's order, paths relative to the top folder. */
export interface StatusReport {
  /** Commit of HEAD; `null` on a branch without commits. */
  readonly head: string | null;
  /** Changed or deleted in the working tree, or in conflict. */
  readonly changed: readonly string[];
  readonly staged: readonly string[];
  /** With commits of their own, or changed or untracked files in them. */
  readonly submodules: readonly string[];
  readonly untracked: readonly string[];
  /** Untracked repositories; git does not look into them. Each ends with `/`. */
  readonly nested: readonly string[];
  /** A folder that is ignored as a whole is one entry and ends with `/`. */
  readonly ignored: readonly string[];
}

interface Lists {
  head: string | null;
  readonly changed: string[];
  readonly staged: string[];
  readonly submodules: string[];
  readonly untracked: string[];
  readonly nested: string[];
  readonly ignored: string[];
}

/** Fields before the path: `1 XY sub mH mI mW hH hI`, `2` adds the score, `u` is of its own make. */
const FIELDS_BEFORE_PATH: Readonly<Record<string, number>> = { "1": 8, "2": 9, u: 10 };

/**
 * Parses `git status --porcelain=v2 --branch -z --untracked-files=all` (git-status(1), "Porcelain Format
 * Version 2"; checked with 2.39.5).
 *
 * @throws Error on an entry of another kind, and without the header that git writes even when there is
 *   nothing else to say: then nothing may be concluded.
 */
export function parseStatus(text: string): StatusReport {
  const lists: Lists = {
    head: null,
    changed: [],
    staged: [],
    submodules: [],
    untracked: [],
    nested: [],
    ignored: [],
  };
  const entries = text.split("\0");
  if (!entries.some((entry) => entry.startsWith("# branch.oid ")))
    throw new Error("the status has no header");
  for (let at = 0; at < entries.length; at += 1) {
    const entry = entries[at] ?? "";
    readEntry(lists, entry);
    if (entry.startsWith("2 ")) at += 1;
  }
  return lists;
}

function readEntry(lists: Lists, entry: string): void {
  const path = entry.slice(2);
  if (entry === "") return;
  if (entry.startsWith("#")) readHeader(lists, entry);
  else if (entry.startsWith("?")) (path.endsWith("/") ? lists.nested : lists.untracked).push(path);
  else if (entry.startsWith("!")) lists.ignored.push(path);
  else readTracked(lists, entry);
}

function readHeader(lists: Lists, entry: string): void {
  const commit = /^# branch\.oid ([0-9a-f]+)$/.exec(entry)?.[1];
  if (commit !== undefined) lists.head = commit;
}

function readTracked(lists: Lists, entry: string): void {
  const fields = entry.split(" ");
  const before = FIELDS_BEFORE_PATH[fields[0] ?? ""];
  if (before === undefined) throw new Error(`unknown status entry ${JSON.stringify(entry)}`);
  const path = fields.slice(before).join(" ");
  const [index, tree] = [...(fields[1] ?? "")];
  const inConflict = fields[0] === "u";
  if (!inConflict && index !== ".") lists.staged.push(path);
  if (!inConflict && tree === ".") return;
  (fields[2]?.startsWith("S") === true ? lists.submodules : lists.changed).push(path);
}
