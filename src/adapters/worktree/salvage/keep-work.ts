import { AoError } from "../../../domain/errors.ts";
import type { SessionId } from "../../../domain/ids.ts";
import { type SalvageReason, salvageRef, type Unkeepable } from "../../../domain/salvage.ts";
import type { FaultPoint } from "../../../ports/fault-point.ts";
import type { Fence } from "../../../ports/fence.ts";
import type { SalvageOutcome } from "../../../ports/snapshots.ts";
import type { Git } from "../run-git.ts";
import { makeCommit, makeRef, removeRef } from "./ao-commit.ts";
import { textOf } from "./byte-path.ts";
import type { ChosenWork } from "./choose-work.ts";
import { fingerprint } from "./fingerprint.ts";
import { isWork } from "./is-work.ts";
import { lostTips } from "./lost-tips.ts";
import { type NamedObjects, namedObjects } from "./named-objects.ts";
import type { Looking, Observation, Observed, WorktreeState } from "./observe.ts";
import type { Plumbing } from "./plumbing.ts";
import { isSamePosition } from "./put-head.ts";
import { refuseUnkeepable } from "./refuse-unkeepable.ts";
import { salvageMessage } from "./salvage-message.ts";
import { nextNumber } from "./salvage-numbers.ts";
import { type FoundSalvage, salvagesOf } from "./salvage-refs.ts";
import { readSavedState } from "./saved-state.ts";
import { type StoredTrees, storeTree } from "./store-tree.ts";
import { withTempFolder } from "./temp-folder.ts";
import { verifyCommit } from "./verify-objects.ts";

export interface Keeping extends Looking {
  readonly git: Git;
  readonly boundary: FaultPoint;
  /** Asked before each effect. */
  readonly fence: Fence;
}

/** One whose state can be looked at, in whatever way it has one. */
export interface KeepingWork extends Keeping {
  observe(observation: Observation): Promise<Observed>;
}

export interface KeepRequest {
  readonly sessionId: SessionId;
  readonly chosen: ChosenWork;
  readonly reason: SalvageReason;
  readonly atMs: number;
}

/** A state that is in the repository whole, with all that its commit needs. */
interface StoredState {
  readonly state: WorktreeState;
  readonly trees: StoredTrees;
  readonly parents: readonly string[];
}

const ATTEMPTS = 3;

/** `Snapshots.salvage` for one worktree. */
export async function keepWork(keeping: KeepingWork, request: KeepRequest): Promise<SalvageOutcome> {
  const stored = await storeState(keeping, request.chosen);
  if (!request.chosen.isWork && !(await isWork(keeping.git, keeping, stored))) return { kind: "nothing" };
  const known = await newestIfSame(keeping.plumbing, request.sessionId, stored);
  if (known === undefined) return commitWork(keeping, request, stored);
  await verifyCommit(keeping.plumbing, keeping.settings.format, known.commit);
  return known;
}

type Kept = Extract<SalvageOutcome, { readonly kind: "kept" }>;

async function commitWork(keeping: Keeping, request: KeepRequest, stored: StoredState): Promise<Kept> {
  await keeping.boundary("salvage.commit:before");
  keeping.fence();
  const { atMs, reason, sessionId } = request;
  const message = salvageMessage(sessionId, { atMs, reason, head: stored.state.git.head });
  const { parents, trees } = stored;
  const commit = await makeCommit(keeping.plumbing, { tree: trees.all, parents, message, atMs });
  await keeping.boundary("salvage.commit:after");
  const ref = await makeNextRef(keeping, sessionId, commit);
  // Only once a ref holds it nobody can take away what was read.
  await verifyCommit(keeping.plumbing, keeping.settings.format, commit).catch(async (error: unknown) => {
    await removeRef(keeping.plumbing, ref, commit);
    throw error;
  });
  return { kind: "kept", ref, commit };
}

/** `Snapshots.obstacles` for one worktree. */
export function unkeepableIn(keeping: KeepingWork, chosen: ChosenWork): Promise<readonly Unkeepable[]> {
  return withTempFolder(keeping.plumbing.gitDir, async (folder) => {
    const { state } = await keeping.observe({ ...asked(chosen), folder });
    return [...state.unkeepable, ...chosen.unkeepable].map(({ path, why }) => ({ path: textOf(path), why }));
  });
}

/** Whether the worktree's state is, in everything, that of the tree. */
export async function hasState(
  keeping: KeepingWork,
  chosen: ChosenWork,
  { tree, parents }: { readonly tree: string; readonly parents: readonly string[] },
): Promise<boolean> {
  const stored = await storeState(keeping, chosen);
  return stored.trees.all === tree && stored.parents.every((parent) => parents.includes(parent));
}

/**
 * Whether what git still has of a worktree whose folder is gone is all in a salvage. Of the files nothing is left to
 * compare.
 */
export async function hasRecord(
  keeping: KeepingWork,
  kept: Pick<FoundSalvage, "commit" | "parents">,
): Promise<boolean> {
  const { plumbing } = keeping;
  const saved = await readSavedState(plumbing, kept.commit);
  return withTempFolder(plumbing.gitDir, async (folder) => {
    const { state } = await keeping.observe({ ignoredPaths: [], folder });
    const { git, index } = state;
    const parents = await parentsOf(plumbing, state, await namedObjects(plumbing, git));
    return (
      index.canonical.equals(saved.index) &&
      isSamePosition(git.head, saved.head) &&
      [...git.files].every(([path, content]) => saved.git.get(path)?.equals(content) === true) &&
      parents.every((parent) => kept.parents.includes(parent))
    );
  });
}

/**
 * Writes the state of a worktree to the repository, so often until it was the same before and after.
 *
 * @throws AoError busy when it never is, workspace_dirty when there is something that cannot be kept.
 */
function storeState(keeping: KeepingWork, chosen: ChosenWork): Promise<StoredState> {
  const { gitDir } = keeping.plumbing;
  return withTempFolder(gitDir, async (folder) => {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const stored = await tryToStore(keeping, chosen, folder);
      if (stored !== undefined) return stored;
    }
    throw new AoError("busy", `${keeping.root} keeps changing while it is read`, {
      hint: "end what works in it and try again",
      details: { path: keeping.root },
    });
  });
}

const asked = ({ paths, special }: ChosenWork): Pick<Observation, "ignoredPaths" | "special"> => ({
  ignoredPaths: paths,
  special,
});

async function tryToStore(
  keeping: KeepingWork,
  chosen: ChosenWork,
  folder: string,
): Promise<StoredState | undefined> {
  const look = () => keeping.observe({ ...asked(chosen), folder });
  const observed = await look();
  const { state } = observed;
  refuseUnkeepable(keeping.root, [...state.unkeepable, ...chosen.unkeepable]);
  const objects = await namedObjects(keeping.plumbing, state.git);
  const parents = await parentsOf(keeping.plumbing, state, objects);
  await keeping.boundary("salvage.objects:before");
  const trees = await storeTree({ looking: keeping, observed, objects, folder });
  await keeping.boundary("salvage.objects:after");
  if (trees === undefined) return undefined;
  const again = await look();
  return fingerprint(again.state) === fingerprint(state) ? { state, trees, parents } : undefined;
}

/** HEAD first, then all else that nothing might hold any more. */
async function parentsOf(
  plumbing: Plumbing,
  { git }: WorktreeState,
  { commits }: NamedObjects,
): Promise<readonly string[]> {
  const { commit } = git.head;
  const head = commit === null ? [] : [commit];
  return [...new Set([...head, ...(await lostTips(plumbing, git)), ...commits])];
}

async function newestIfSame(
  plumbing: Plumbing,
  sessionId: SessionId,
  { trees, parents }: StoredState,
): Promise<Kept | undefined> {
  const newest = (await salvagesOf(plumbing, sessionId)).at(-1);
  const isSame = newest?.tree === trees.all && newest.parents.join() === parents.join();
  return isSame ? { kind: "kept", ref: newest.ref, commit: newest.commit } : undefined;
}

/** Another process may take a number at the same time; then the next one is tried. */
async function makeNextRef(
  { plumbing, boundary, fence }: Keeping,
  sessionId: SessionId,
  commit: string,
): Promise<string> {
  await boundary("salvage.ref:before");
  fence();
  let number = await nextNumber(plumbing, sessionId);
  while (!(await makeRef(plumbing, salvageRef(sessionId, number), commit))) number += 1;
  await boundary("salvage.ref:after");
  return salvageRef(sessionId, number);
}
