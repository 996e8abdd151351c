import type { GitState } from "./git-state.ts";
import type { Plumbing } from "./plumbing.ts";

/** Objects that git's own notes of a worktree name: what is under way needs them. */
export interface NamedObjects {
  readonly commits: readonly string[];
  /** Trees and blobs. */
  readonly others: readonly { readonly oid: string; readonly type: "tree" | "blob" }[];
}

const OID = /\b[0-9a-f]{40}(?:[0-9a-f]{24})?\b/g;
/** Notes are short; what is longer is a patch or the like. */
const MAX_NOTE_BYTES = 1024 * 1024;

/** Those of them that are there. */
export async function namedObjects(plumbing: Plumbing, state: GitState): Promise<NamedObjects> {
  const notes = [...state.files.values()].filter(({ length }) => length <= MAX_NOTE_BYTES);
  const mentioned = notes.flatMap((note) => note.toString("latin1").match(OID) ?? []);
  const oids = [...new Set([...mentioned, ...Object.values(state.refs)])].sort();
  if (oids.length === 0) return { commits: [], others: [] };
  const args = ["cat-file", "--batch-check"];
  const answer = await plumbing.tell("look for what is kept", args, oids.map((oid) => `${oid}\n`).join(""));
  const found = answer.split("\n").map((line) => line.split(" "));
  return {
    commits: found.filter(([, type]) => type === "commit").map(([oid = ""]) => oid),
    others: found.flatMap(([oid = "", type]) => (type === "tree" || type === "blob" ? [{ oid, type }] : [])),
  };
}
