import type { ProcessRow } from "./process-source.ts";

export interface FamilyInput {
  readonly rows: readonly ProcessRow[];
  /** The root's pid when it lives, else `null`. */
  readonly rootPid: number | null;
  /** Pids whose environment holds the markers. */
  readonly marked: ReadonlySet<number>;
  readonly callerPid: number;
}

function ancestorsOf(rows: readonly ProcessRow[], pid: number): ReadonlySet<number> {
  const parents = new Map(rows.map((row) => [row.pid, row.parentPid]));
  const seen = new Set<number>();
  for (let at: number | undefined = pid; at !== undefined && !seen.has(at); at = parents.get(at))
    seen.add(at);
  return seen;
}

function descendantsOf(rows: readonly ProcessRow[], rootPid: number): ReadonlySet<number> {
  const children = new Map<number, number[]>();
  for (const { pid, parentPid } of rows) {
    const siblings = children.get(parentPid);
    if (siblings === undefined) children.set(parentPid, [pid]);
    else siblings.push(pid);
  }
  // A set hands out what is added while it is walked, so this goes on until no child is new.
  const found = new Set([rootPid]);
  for (const pid of found) for (const child of children.get(pid) ?? []) found.add(child);
  return found;
}

/**
 * The living processes that belong to `rootPid` by descent or carry the markers, root first, then nearest
 * descendants first, then the marked ones. The caller and its ancestors are never among them.
 */
export function selectFamily({ rows, rootPid, marked, callerPid }: FamilyInput): readonly ProcessRow[] {
  const living = new Map(rows.filter((row) => !row.dead).map((row) => [row.pid, row]));
  const excepted = ancestorsOf(rows, callerPid);
  const wanted = new Set([...(rootPid === null ? [] : descendantsOf(rows, rootPid)), ...marked]);
  return [...wanted].flatMap((pid) => {
    const row = excepted.has(pid) ? undefined : living.get(pid);
    return row === undefined ? [] : [row];
  });
}
