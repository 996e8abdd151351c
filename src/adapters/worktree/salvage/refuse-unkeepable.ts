import { AoError } from "../../../domain/errors.ts";
import { unkeepableFinding } from "../../../domain/salvage.ts";
import { textOf } from "./byte-path.ts";
import type { UnkeepablePath } from "./walk-folder.ts";

/** @throws AoError workspace_dirty when there is anything that cannot be kept. */
export function refuseUnkeepable(root: string, unkeepable: readonly UnkeepablePath[]): void {
  if (unkeepable.length === 0) return;
  const items = unkeepable.map(({ path, why }) => ({ path: textOf(path), why }));
  const finding = unkeepableFinding(items);
  throw new AoError("workspace_dirty", `${root} holds ${finding.detail}`, {
    hint: "move it elsewhere, or commit and push it",
    details: { path: root, unkeepable: items, findings: [finding] },
  });
}
