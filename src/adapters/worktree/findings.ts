import { FINDING_KINDS, type FindingKind, type WorkspaceFinding } from "../../domain/workspace-finding.ts";

/** Everything found, by kind. */
export type Found = Readonly<Partial<Record<FindingKind, readonly string[]>>>;

const MAX_ITEMS = 20;
const SHOWN = 3;

/** One and many, for a person. */
const NOUNS: Readonly<Record<FindingKind, readonly [string, string]>> = {
  missing: ["folder that is not there", "folders that are not there"],
  changed: ["changed file", "changed files"],
  staged: ["staged change", "staged changes"],
  untracked: ["untracked file", "untracked files"],
  ignored: ["ignored file that no build makes", "ignored files that no build makes"],
  operation_in_progress: ["operation under way", "operations under way"],
  unreachable_commits: ["commit that no branch has", "commits that no branch has"],
  submodule: ["submodule with work of its own", "submodules with work of their own"],
  nested_repository: ["repository inside", "repositories inside"],
  locked: ["lock of git worktree lock", "locks of git worktree lock"],
  in_use: ["process in it", "processes in it"],
  unreadable: ["thing that cannot be read", "things that cannot be read"],
};

/** What was found as findings, in the order of `FINDING_KINDS`; nothing found is no finding. */
export function toFindings(found: Found): readonly WorkspaceFinding[] {
  return FINDING_KINDS.flatMap((kind) => {
    const items = [...new Set(found[kind] ?? [])];
    if (items.length === 0) return [];
    return [{ kind, detail: describe(kind, items), items: items.slice(0, MAX_ITEMS), count: items.length }];
  });
}

/** Both of them, kind by kind. */
export function mergeFound(a: Found, b: Found): Found {
  return Object.fromEntries(
    FINDING_KINDS.map((kind) => [kind, [...(a[kind] ?? []), ...(b[kind] ?? [])]] as const),
  );
}

function describe(kind: FindingKind, items: readonly string[]): string {
  const [one, many] = NOUNS[kind];
  const shown = items.slice(0, SHOWN).join(", ");
  const more = items.length > SHOWN ? ", …" : "";
  return `${items.length} ${items.length === 1 ? one : many}: ${shown}${more}`;
}
