import { AoError } from "../../../domain/errors.ts";
import type { Conflict } from "../../../ports/snapshots.ts";

const SHOWN = 3;

/** @throws AoError salvage_conflict when anything is in the way. */
export function refuseConflicts(root: string, conflicts: readonly Conflict[]): void {
  if (conflicts.length === 0) return;
  const said = conflicts.slice(0, SHOWN).map(({ path, why }) => `${path}: ${why}`);
  const more = conflicts.length > SHOWN ? `; and ${conflicts.length - SHOWN} more` : "";
  throw new AoError("salvage_conflict", `nothing was put back into ${root}: ${said.join("; ")}${more}`, {
    details: { path: root, conflicts },
  });
}
