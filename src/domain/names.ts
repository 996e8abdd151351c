import { EVERY_PROJECT, type ProjectId, parseProjectId, parseSessionId, type SessionId } from "./ids.ts";

const MAX_SLUG = 40;
const MAX_PREFIX = 20;
const MAX_PROJECT_ID = 63;
/** Characters of hostile or endless text that are read at all; a name needs fewer. */
const MAX_READ = 400;
const FALLBACK_PREFIX = "ao";
const FALLBACK_PROJECT_ID = "project";

export interface BranchRequest {
  readonly issueId: string | null;
  readonly title: string | null;
  readonly sessionId: SessionId;
}

/**
 * Any text as at most 40 characters of `a-z 0-9 -`, with letters where the text had accented ones.
 * Empty when nothing of it can be kept, as with emoji alone.
 */
export function slugify(text: string): string {
  return cutRefPart(wordsOf(plain(text).toLowerCase()).join("-"));
}

/**
 * The branch of a session that was given none: `feat/<issue>`, `feat/<issue>-<slug of the title>`, else
 * `session/<id>`, also when nothing of the issue id can be part of a name. git accepts every result
 * (git-check-ref-format(1)).
 */
export function deriveBranch({ issueId, title, sessionId }: BranchRequest): string {
  const issue = cutRefPart(plain(issueId ?? ""));
  if (issue === "") return `session/${sessionId}`;
  return `feat/${[issue, slugify(title ?? "")].filter((part) => part !== "").join("-")}`;
}

/**
 * The session id prefix for a repository folder: up to 4 characters as they are, else the capitals of
 * `CamelCase`, the initials of `kebab-case` or `snake_case`, or the first 3 letters; in lower case.
 * `ao` when nothing of the name can be kept.
 */
export function derivePrefix(folderName: string): string {
  const prefix = shorten(plainFolderName(folderName)).toLowerCase().slice(0, MAX_PREFIX);
  return parseSessionId(`${prefix}-1`) === undefined ? FALLBACK_PREFIX : prefix;
}

/**
 * A free project id for a repository folder: its name with `-` for what an id cannot hold, and `-2`, `-3`
 * and so on behind it while `isTaken` says so.
 */
export function deriveProjectId(folderName: string, isTaken: (id: ProjectId) => boolean): ProjectId {
  const base = plainFolderName(folderName) || FALLBACK_PROJECT_ID;
  for (let number = 1; ; number++) {
    const ending = number === 1 ? "" : `-${number}`;
    const id = parseProjectId(base.slice(0, MAX_PROJECT_ID - ending.length) + ending);
    if (id !== undefined && id !== EVERY_PROJECT && !isTaken(id)) return id;
  }
}

/** ASCII letters, digits, `_`, and single `-` where there was anything else; never at the edges. */
function plain(text: string): string {
  return text
    .slice(0, MAX_READ)
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .replace(/[^A-Za-z0-9_]+/g, "-")
    .replace(/^-|-$/g, "");
}

function cutRefPart(part: string): string {
  return part.slice(0, MAX_SLUG).replace(/-$/, "");
}

function wordsOf(name: string): readonly string[] {
  return name.split(/[-_]+/).filter((word) => word !== "");
}

/** A bare repository's folder is called by its name without `.git`. */
function plainFolderName(folderName: string): string {
  return plain(folderName.replace(/\.git$/, "")).replace(/^[-_]+|[-_]+$/g, "");
}

function shorten(name: string): string {
  if (name.length <= 4) return name;
  const capitals = name.match(/[A-Z]/g) ?? [];
  if (capitals.length > 1 && /[a-z]/.test(name)) return capitals.join("");
  const words = wordsOf(name);
  return words.length > 1 ? words.map((word) => word.slice(0, 1)).join("") : name.slice(0, 3);
}
