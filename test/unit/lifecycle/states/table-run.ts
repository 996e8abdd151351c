import { chmodSync, existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { FindingKind, SkipReason } from "../../../../src/domain/workspace-finding.ts";
import type { CleanupResult } from "../../../../src/lifecycle/cleanup/cleanup-sessions.ts";
import { gitExit, gitIn } from "../../../support/git-repository.ts";
import { worktreeSnapshot } from "../../../support/tree-snapshot.ts";
import type { OwnDisk } from "../../../support/worktree-states/state.ts";
import { pictureOf } from "../../adapters/worktree/salvage/salvage-world.ts";
import { type StateSession, type StatesWorld, statesWorld } from "./states-world.ts";

/** One state as the commands have to take it. */
export interface StateCase {
  readonly name: string;
  /** Makes a session with a worktree in this state. */
  make(world: StatesWorld): Promise<StateSession>;
  /** What a kill finds, in this order; `null` when anything may be found. */
  readonly finds: readonly FindingKind[] | null;
  /** Why a plain cleanup leaves it; `null` when it takes it, `undefined` when any reason will do. */
  readonly reason?: SkipReason | null | undefined;
  /** The same of a cleanup that keeps work aside. */
  readonly reasonToStay: SkipReason | null;
  /** Paths that do not come back, or not as work, with all below them. */
  readonly lost?: readonly string[] | undefined;
  /** What git says differs afterwards, since git was made not to see it. */
  readonly isHidden?: boolean | undefined;
  readonly ownDisk?: OwnDisk | undefined;
  /** Paths in its worktree that nobody may open. */
  readonly closed?: readonly string[];
  /** Its branch is gone: a restore says so, and brings it back where it stood. */
  readonly isBranchless?: boolean | undefined;
  /** What a restore says besides. */
  readonly warnings?: readonly RegExp[] | undefined;
}

/** What may not be opened is opened meanwhile. */
function everythingOf({ repository, path }: StateSession, { closed = [] }: StateCase) {
  const modes = closed.map((name) => [join(path, name), statSync(join(path, name)).mode] as const);
  for (const [place] of modes) chmodSync(place, 0o700);
  const picture = worktreeSnapshot(repository, path);
  for (const [place, mode] of modes) chmodSync(place, mode);
  return { ...picture, modes };
}

const refsOf = ({ repository }: StateSession) => repository.git("for-each-ref");

/** What a cleanup said, but where work was kept, which a dry run cannot say. */
const namedBy = ({ cleaned, skipped, errors }: CleanupResult) => ({
  cleaned: cleaned.map(({ id }) => id),
  skipped,
  errors,
});

/**
 * A dry run, and the run, which name the same. Returns the reason to skip the only session, `null` when it was freed.
 */
async function cleanTwice(world: StatesWorld, salvage: boolean): Promise<SkipReason | null> {
  const dry = await world.cleanup({ salvage, dryRun: true });
  const run = await world.cleanup({ salvage });
  expect(namedBy(run)).toEqual(namedBy(dry));
  expect(run.errors).toEqual([]);
  expect(run.cleaned.length + run.skipped.length).toBe(1);
  return run.skipped[0]?.reason ?? null;
}

async function expectRefused(world: StatesWorld, session: StateSession, state: StateCase): Promise<void> {
  const outcome = await world.kill(session);
  const refused = outcome.kind === "refused" ? outcome.error : outcome.kind;
  const code = state.reason === "unsafe_path" ? "workspace_unsafe_path" : "workspace_dirty";
  const findings = state.finds?.map((kind) => expect.objectContaining({ kind }));
  expect(refused).toMatchObject({ code, ...(findings && { details: { findings } }) });
}

/** Work is left byte for byte by a kill and by a cleanup, which says why. Returns the world that it is in. */
export async function leaveWork(state: StateCase) {
  const { ownDisk } = state;
  const world = statesWorld({ seesProcesses: state.finds?.includes("in_use") === true, ownDisk });
  const session = await state.make(world);
  const picture = pictured(session, state);
  const before = everythingOf(session, state);
  await expectRefused(world, session, state);
  const reason = await cleanTwice(world, false);
  if (state.reason === undefined) expect(reason).not.toBeNull();
  else expect(reason).toBe(state.reason);
  expect(everythingOf(session, state)).toEqual(before);
  return { world, session, picture, before };
}

/** Goes on with a cleanup that keeps work aside and a restore: at the end all is as it was. */
export async function keepAndBringBack(state: StateCase): Promise<void> {
  const { world, session, picture, before } = await leaveWork(state);
  expect(await cleanTwice(world, true)).toBe(state.reasonToStay);
  if (state.reasonToStay !== null) {
    expect(everythingOf(session, state)).toEqual(before);
    return;
  }
  expect(existsSync(session.path)).toBe(false);
  const ref = `refs/ao/salvage/${session.id}/1`;
  const said = [...(state.isBranchless === true ? [/^branch \S+ is gone/] : []), ...(state.warnings ?? [])];
  const warnings = said.map((pattern) => expect.stringMatching(pattern));
  expect(await world.restore(session)).toMatchObject({ salvageRef: ref, warnings });
  expect(pictured(session, state)).toMatchObject(picture);
}

/**
 * A worktree as a person has it: files, index, HEAD and refs; where its folder is gone what git knows of it, and
 * nothing where git cannot tell.
 */
function pictured({ repository, path, id }: StateSession, state: StateCase): object {
  const { lost, isHidden = false, closed = [] } = state;
  if (closed.length > 0) return {};
  if (gitExit(repository.path, "rev-parse", "--git-dir") !== 0) return {};
  const own = join(repository.git("rev-parse", "--absolute-git-dir"), "worktrees", id);
  if (!existsSync(own) || gitExit(own, "--git-dir", own, "rev-parse", "--verify", "-q", "HEAD") > 1)
    return {};
  if (!existsSync(path)) return { index: gitIn(own, "--git-dir", own, "ls-files", "--stage", "-v", "-z") };
  if (state.reason === "unsafe_path" || gitExit(path, "status") !== 0) return {};
  const { status, words, ...rest } = pictureOf(path, lost);
  return isHidden ? rest : { ...rest, status, words };
}

/** How a session that holds nothing to lose is ended. */
export type FreeBy = "kill" | "cleanup" | "cleanup --salvage";

/** What holds nothing to lose is freed, with every ref as it was, and comes back clean. */
export async function freeAndBringBack(state: StateCase, by: FreeBy): Promise<void> {
  const world = statesWorld({ seesProcesses: false, ownDisk: state.ownDisk });
  const session = await state.make(world);
  const refs = refsOf(session);
  expect(await world.kill(session, { keepWorktree: by !== "kill" })).toMatchObject({ kind: "done" });
  if (by !== "kill") expect(await cleanTwice(world, by === "cleanup --salvage")).toBeNull();
  expect(existsSync(session.path)).toBe(false);
  expect(session.repository.worktrees()).toEqual([session.repository.path]);
  expect(refsOf(session)).toBe(refs);
  expect(await world.restore(session)).toMatchObject({ salvageRef: null, warnings: [] });
  const leftOut = (state.lost ?? []).map((path) => `:(exclude)${path}`);
  const status = ["status", "--porcelain", "--untracked-files=all", "--", ".", ...leftOut];
  expect(gitIn(session.path, ...status)).toBe("");
  expect(refsOf(session)).toBe(refs);
  expect((await world.deps.workspace.sweepTrash()).left).toEqual([]);
}
