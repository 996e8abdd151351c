import { createHash } from "node:crypto";
import type { WorktreeState } from "./observe.ts";
import { encodePermissions } from "./permissions.ts";
import { encodeSpecials } from "./special-files.ts";

/** A name for a state: the same for the same, and another for another. */
export function fingerprint(state: WorktreeState): string {
  const hash = createHash("sha256");
  const part = (value: string | Uint8Array) => hash.update(`${value.length}:`).update(value);
  for (const [path, { mode, oid }] of [...state.files].sort(byName)) part(`${mode} ${oid} ${path}`);
  part(JSON.stringify([state.empty, state.ignored, state.unkeepable, state.git.head, state.git.refs]));
  for (const [path, content] of [...state.git.files].sort(byName)) part(path).update(content);
  part(encodePermissions(state.permissions));
  part(encodeSpecials(state.special));
  part(state.index.canonical);
  return hash.digest("hex");
}

function byName([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number {
  return one < other ? -1 : 1;
}
