import { rmdir } from "node:fs/promises";
import { dirname } from "node:path";
import { AoError, errorMessage } from "../../domain/errors.ts";
import { isKeepable } from "../../domain/salvage.ts";
import { shellQuoted } from "../../domain/shell-quoted.ts";
import type { WorkspaceFinding } from "../../domain/workspace-finding.ts";
import type { Fence } from "../../ports/fence.ts";
import type { IsKept, OnBranch, WorkspaceRef } from "../../ports/workspace.ts";
import { entryAt } from "./entry-at.ts";
import { inspectHeld } from "./inspect-place.ts";
import { inspectWhole, mountedAt } from "./inspect-whole.ts";
import { filesLeft } from "./leftover.ts";
import { type Context, locate, type Owned, type Place, treeOf } from "./place.ts";
import {
  deleteFiles,
  finishedGoing,
  forgetWorktree,
  type Removal,
  removeEmptyFolders,
  takeAway,
} from "./remove-worktree.ts";
import { realpathOfAny, resolveInside, unsafePath } from "./safe-path.ts";
import { hasCode } from "./system-error.ts";
import { tellBranch } from "./tell-branch.ts";
import { hold, putBack } from "./trash.ts";
import { readGitLink, type WorktreeRecord } from "./worktree-records.ts";

const ATTEMPTS = 5;

export interface FreeOptions {
  readonly onBranch?: OnBranch | undefined;
  readonly isKept?: IsKept | undefined;
  /** Asked before each step that changes something; nobody when not given. */
  readonly fence?: Fence | undefined;
  /** Deletes its files, too, instead of leaving them in the trash; no when not given. */
  readonly deletes?: boolean;
}

interface Freeing extends Context {
  readonly isKept: IsKept | undefined;
  readonly fence: Fence;
  readonly deletes: boolean;
}

/**
 * `Workspace.destroy`: look, move aside, look again, drop the record; the files wait in the trash. The second look
 * sees what was written between the first one and the move; then it goes back where it was. Another process at the
 * same work is no trouble: whatever vanishes under our hands is looked for anew.
 */
export async function freeWorktree(
  context: Context,
  ref: WorkspaceRef,
  { onBranch = () => undefined, isKept, fence = () => {}, deletes = false }: FreeOptions = {},
): Promise<void> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    if (await tryToFree({ ...context, isKept, fence, deletes }, ref, onBranch)) return;
  }
  throw new AoError("teardown_incomplete", `${ref.path} keeps changing while it is freed`, {
    hint: "try again",
    details: { path: ref.path },
  });
}

/** False when another process moved it meanwhile and it has to be looked for again. */
async function tryToFree(context: Freeing, ref: WorkspaceRef, onBranch: OnBranch): Promise<boolean> {
  const { repository, place } = await locate(context, ref);
  if (repository === undefined) return refuseWhatIsThere(context, ref, place);
  const removal: Removal = { ...context, repository, sessionId: ref.sessionId, path: place.path };
  if (place.kind === "held") {
    if (!(await tellBranch(context, place.owned.record, onBranch))) return false;
    return finish(context, { ref, removal, owned: place.owned, tree: place.tree });
  }
  const findings = await inspectWhole(context, place);
  if (!(await mayGo(context, place, findings)))
    return refuseUnlessVanished(ref, place, obstacles(context, findings));
  if (!(await tellBranch(context, recordOf(place), onBranch))) return false;
  context.fence();
  if (place.kind === "standing") {
    const tree = await moveAside(context, ref, place.owned);
    return tree !== undefined && finish(context, { ref, removal, owned: place.owned, tree });
  }
  await forgetWorktree(removal);
  if (place.kind === "gone" && place.going !== undefined) {
    await deleteIfWanted(context, removal, await finishedGoing(place.going));
  }
  return true;
}

async function deleteIfWanted({ deletes }: Freeing, removal: Removal, gone: string): Promise<void> {
  if (deletes) await deleteFiles(removal, gone);
}

/** What stands is asked about once more, when it was moved aside and nobody can write to it any more. */
async function mayGo(
  context: Freeing,
  place: Place,
  findings: readonly WorkspaceFinding[],
): Promise<boolean> {
  if (findings.length === 0) return true;
  if (place.kind !== "standing") return isKeptWhole(context, findings);
  return context.isKept !== undefined && isKeepable(findings);
}

async function isKeptWhole({ isKept }: Freeing, findings: readonly WorkspaceFinding[]): Promise<boolean> {
  return isKept !== undefined && isKeepable(findings) && (await isKept());
}

/** What is kept is in nobody's way: where only processes are, they alone are told. */
function obstacles({ isKept }: Freeing, findings: readonly WorkspaceFinding[]): readonly WorkspaceFinding[] {
  const users = findings.filter(({ kind }) => kind === "in_use");
  const others = findings.filter(({ kind }) => kind !== "in_use");
  return isKept !== undefined && users.length > 0 && isKeepable(others) ? users : findings;
}

function recordOf(place: Exclude<Place, { readonly kind: "held" }>): WorktreeRecord | undefined {
  switch (place.kind) {
    case "gone":
      return place.record;
    case "standing":
      return place.owned.record;
    case "unreadable":
      return undefined;
  }
}

/** Without its repository an empty folder can go, and one with anything in it stays. */
async function refuseWhatIsThere(context: Context, ref: WorkspaceRef, place: Place): Promise<boolean> {
  if (place.kind === "gone") {
    await rmdir(place.path).catch(() => undefined);
    await removeEmptyFolders(await realpathOfAny(context.managedRoot), dirname(place.path));
    return true;
  }
  return refuseUnlessVanished(ref, place, await inspectWhole(context, place));
}

/** A look at what another process is just moving fails in many ways; none of them means work. */
async function refuseUnlessVanished(
  ref: WorkspaceRef,
  place: Place,
  findings: readonly WorkspaceFinding[],
): Promise<boolean> {
  if (await hasVanished(place)) return false;
  throw dirty(ref, findings);
}

async function hasVanished(place: Place): Promise<boolean> {
  if (place.kind !== "gone") return (await entryAt(treeOf(place))) === undefined;
  const { record } = place;
  return record !== undefined && (await entryAt(record.gitDir, "git_unavailable")) === undefined;
}

/** Proves once more, right before the one step that counts, that this is the session's own worktree. */
async function moveAside(context: Context, ref: WorkspaceRef, owned: Owned): Promise<string | undefined> {
  const path = await resolveInside(context.managedRoot, ref.path);
  if ((await entryAt(path)) === undefined) return undefined;
  const link = await readGitLink(path);
  const isSame = link.kind === "link" && link.gitDir === owned.record.gitDir;
  if (!isSame && (await entryAt(path)) === undefined) return undefined;
  if (!isSame) throw unsafePath(path, "it changed while it was looked at");
  try {
    return await hold(context.trash, ref.sessionId, path);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw notMoved(path, error);
  }
}

interface Finishing {
  readonly ref: WorkspaceRef;
  readonly removal: Removal;
  readonly owned: Owned;
  /** Where the worktree's folder is now. */
  readonly tree: string;
}

async function finish(context: Freeing, { ref, removal, owned, tree }: Finishing): Promise<boolean> {
  const refusal = await refusalOf(context, { ref, owned, tree });
  if (refusal === undefined) {
    const gone = await takeAway({ ...removal, createdAtMs: owned.marker.createdAtMs }, tree);
    if (gone !== undefined) await deleteIfWanted(context, removal, gone);
    return gone !== undefined;
  }
  if (!(await moveBack(tree, removal.path))) return false;
  throw refusal;
}

/** Why it has to go back: what it holds, or that nobody can tell. */
async function refusalOf(
  context: Freeing,
  { ref, owned, tree }: Omit<Finishing, "removal">,
): Promise<unknown> {
  try {
    const findings = [...(await inspectHeld(context, owned, tree)), ...(await mountedAt(context, tree))];
    const mayGo = findings.length === 0 || (await isKeptWhole(context, findings));
    context.fence();
    return mayGo ? undefined : dirty(ref, obstacles(context, findings));
  } catch (error) {
    return error;
  }
}

async function moveBack(tree: string, path: string): Promise<boolean> {
  try {
    await putBack(tree, path);
    return true;
  } catch (error) {
    if (hasCode(error, "ENOENT")) return false;
    throw new AoError(
      "teardown_incomplete",
      `${path} may hold work and could not be put back: it is at ${tree}`,
      {
        hint: `mv ${shellQuoted(tree)} ${shellQuoted(path)}`,
        details: { path, left: [filesLeft(tree, error)] },
        cause: error,
      },
    );
  }
}

function dirty({ path, repositoryPath }: WorkspaceRef, findings: readonly WorkspaceFinding[]): AoError {
  const why = findings.map(({ detail }) => detail).join("; ");
  if (findings.some(({ kind }) => kind === "missing")) {
    return new AoError("workspace_dirty", `${path} is not freed: ${why}`, {
      hint: `if it was moved: git -C ${shellQuoted(repositoryPath)} worktree repair <where it is now>`,
      details: { path, repositoryPath, findings },
    });
  }
  return new AoError("workspace_dirty", `${path} is kept, it holds ${why}`, {
    hint: `git -C ${shellQuoted(path)} status --ignored`,
    details: { path, findings },
  });
}

function notMoved(path: string, cause: unknown): AoError {
  return new AoError("teardown_incomplete", `${path} could not be moved aside: ${errorMessage(cause)}`, {
    details: { path, left: [filesLeft(path, cause)] },
    cause,
  });
}
