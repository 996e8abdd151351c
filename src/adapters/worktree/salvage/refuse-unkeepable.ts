import { AoError } from "../../../domain/errors.ts";
import { textOf } from "./byte-path.ts";
import type { UnkeepablePath } from "./walk-folder.ts";

const SHOWN = 3;

/** @throws AoError workspace_dirty when there is anything that cannot be kept. */
export function refuseUnkeepable(root: string, unkeepable: readonly UnkeepablePath[]): void {
  if (unkeepable.length === 0) return;
  const items = unkeepable.map(({ path, why }) => ({ path: textOf(path), why }));
  const said = items.slice(0, SHOWN).map(({ path, why }) => `${path}: ${why}`);
  const more = items.length > SHOWN ? `; and ${items.length - SHOWN} more` : "";
  throw new AoError("workspace_dirty", `${root} holds what cannot be kept: ${said.join("; ")}${more}`, {
    hint: "move it elsewhere, or commit and push it",
    details: { path: root, unkeepable: items },
  });
}
