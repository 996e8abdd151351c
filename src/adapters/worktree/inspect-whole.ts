import type { WorkspaceFinding } from "../../domain/workspace-finding.ts";
import type { ProcessUse } from "../../ports/process-table.ts";
import { inspectPlace } from "./inspect-place.ts";
import { mountFindings, mountsBelow } from "./mounts.ts";
import { type Context, type Gone, type Place, treeOf } from "./place.ts";

/**
 * `Workspace.inspect` of a place. What is mounted in it would be moved and deleted with it. Of a folder that is
 * missing what git still has is told beside it: whoever lets git forget it has to know.
 */
export async function inspectWhole(
  context: Context,
  place: Place,
  seen?: readonly ProcessUse[],
): Promise<readonly WorkspaceFinding[]> {
  return withPlace(context, place, await inspectPlace(context, place, seen));
}

/** What was found in a place, with what is to be said of the place itself. */
export async function withPlace(
  context: Pick<Context, "trash">,
  place: Place,
  findings: readonly WorkspaceFinding[],
): Promise<readonly WorkspaceFinding[]> {
  if (place.kind === "gone") return isMissing(place) ? [missing(place), ...findings] : findings;
  return [...findings, ...(await mountedAt(context, treeOf(place)))];
}

/** What is mounted in a folder. */
export async function mountedAt(
  { trash }: Pick<Context, "trash">,
  folder: string,
): Promise<readonly WorkspaceFinding[]> {
  return mountFindings(folder, await mountsBelow(folder, trash.mountTable));
}

/** Git knows it, and no removal of ours took it from its place: it may have been moved, with work in it. */
function isMissing({ record, going }: Gone): boolean {
  return record !== undefined && going === undefined;
}

function missing({ path }: Gone): WorkspaceFinding {
  const detail = "its folder is not there, moved or deleted by somebody, and git still knows it";
  return { kind: "missing", detail, items: [path], count: 1 };
}
