import { AoError } from "../../../domain/errors.ts";
import type { Conflict, PutBackReport } from "../../../ports/snapshots.ts";
import { type Applying, applyFiles } from "./apply-files.ts";
import { type BaseFiles, baseFiles } from "./base-files.ts";
import type { BytePath } from "./byte-path.ts";
import { treeOf } from "./is-work.ts";
import type { Keeping } from "./keep-work.ts";
import { type Observed, observe, type WorktreeState } from "./observe.ts";
import { planFiles } from "./plan-files.ts";
import { gitStateConflicts, putGitState } from "./put-git-state.ts";
import { headConflicts, isSamePosition, putHead } from "./put-head.ts";
import { putIndex, refreshIndex } from "./put-index.ts";
import { filePermissions, putPermissions } from "./put-permissions.ts";
import { refuseConflicts } from "./refuse-conflicts.ts";
import { readSavedState, type SavedState } from "./saved-state.ts";
import { clearScratch, makeFolder } from "./set-aside.ts";
import { putSpecials } from "./special-files.ts";
import { withTempFolder } from "./temp-folder.ts";
import { writeIndexTree } from "./trees.ts";

/** `Snapshots.putBack` for one worktree: files, then what git knows of them, and HEAD last. */
export function putBack(keeping: Keeping, commit: string): Promise<PutBackReport> {
  const { plumbing, root } = keeping;
  const scratch = `.ao-put-back-${commit}`;
  return withTempFolder(plumbing.gitDir, async (folder) => {
    keeping.fence();
    await clearScratch(root, scratch);
    const saved = await readSavedState(plumbing, commit);
    const { state, plan } = await judge(keeping, saved, folder);
    const { files, missing } = await putAllFiles(keeping, saved, { plan, scratch, current: state.files });
    await crossing(keeping, "put_back.git_state", () =>
      putGitState(plumbing, state.git, { wanted: saved, folder }),
    );
    if (!state.index.canonical.equals(saved.index)) {
      await crossing(keeping, "put_back.index", () =>
        putIndex({ plumbing, index: saved.index, folder, boundary: keeping.boundary }),
      );
    }
    await crossing(keeping, "put_back.head", () => putHead(plumbing, state.git.head, saved.head));
    await refreshIndex(keeping.git, root);
    await proveBack(keeping, saved, folder);
    return missing.length === 0 ? { files } : { files, missing };
  });
}

async function crossing(keeping: Keeping, name: string, work: () => Promise<void>): Promise<void> {
  await keeping.boundary(`${name}:before`);
  keeping.fence();
  await work();
  await keeping.boundary(`${name}:after`);
}

interface Judged {
  readonly state: WorktreeState;
  readonly plan: Applying["plan"];
}

/** @throws AoError salvage_conflict when anything is in the way. */
async function judge(keeping: Keeping, saved: SavedState, folder: string): Promise<Judged> {
  const { plumbing, root } = keeping;
  const observed = await look(keeping, saved, folder);
  const { state, index } = observed;
  const indexConflict = await whyNotIndex(keeping, observed, saved);
  const hasHidden = state.index.entries.some((entry) => entry.skipWorktree || entry.assumeUnchanged);
  const head = state.git.head.commit;
  const base = await baseFiles({ plumbing: index.plumbing, root, head, hasHidden });
  const plan = planFiles({
    root,
    current: state.files,
    target: saved.files,
    mayReplace: (path) => base.clean.has(path) || base.put.has(path),
    fateOf: fateIn(base, new Set(state.untracked)),
  });
  refuseConflicts(root, [
    ...plan.conflicts,
    ...indexConflict,
    ...gitStateConflicts(state.git, saved),
    ...(await headConflicts(plumbing, state.git.head, saved.head)),
  ]);
  return { state, plan };
}

/** What the saved state does not have was deleted in it, when it came with the making of the worktree. */
function fateIn({ clean, changed, put }: BaseFiles, untracked: ReadonlySet<BytePath>) {
  return (path: BytePath): "remove" | "leave" | "conflict" => {
    if (clean.has(path)) return "remove";
    if (changed.has(path)) return "conflict";
    return put.has(path) && untracked.has(path) ? "remove" : "leave";
  };
}

function look(keeping: Keeping, saved: SavedState, folder: string): Promise<Observed> {
  return observe(keeping, { ignoredPaths: [], extra: [...saved.files.keys()], folder });
}

/** Only an index that says what HEAD says can go. */
async function whyNotIndex(
  { plumbing, settings }: Keeping,
  { state, index }: Observed,
  saved: SavedState,
): Promise<readonly Conflict[]> {
  const { canonical, entries } = state.index;
  if (canonical.equals(saved.index)) return [];
  const isOdd = entries.some(({ stage, intentToAdd }) => stage > 0 || intentToAdd);
  const head = await treeOf(plumbing, settings.format, state.git.head.commit);
  const isHead = !isOdd && (await writeIndexTree(index.plumbing)) === head;
  return isHead ? [] : [{ path: "index", why: "it holds staged changes" }];
}

async function putAllFiles(
  { git, plumbing, root, boundary, fence, settings }: Keeping,
  saved: SavedState,
  { plan, scratch, current }: Pick<Applying, "plan" | "scratch" | "current">,
): Promise<Required<PutBackReport>> {
  const { permissions } = saved;
  const files = await applyFiles({
    ...{ plumbing, root, plan, scratch, boundary, current, fence, step: "put_back.file" },
    ...{ format: settings.format, held: new Map() },
    permissionsOf: (path, entry) => filePermissions(permissions, path, entry),
  });
  fence();
  for (const folder of saved.empty) await makeFolder(root, folder);
  const missing = await putSpecials(root, saved.special, git.env);
  await putPermissions(root, saved);
  return { files, missing };
}

/** @throws AoError busy when it is not as it was, since somebody changes it meanwhile. */
async function proveBack(keeping: Keeping, saved: SavedState, folder: string): Promise<void> {
  const { state } = await look(keeping, saved, folder);
  const isBack =
    state.index.canonical.equals(saved.index) &&
    isSamePosition(state.git.head, saved.head) &&
    [...saved.git].every(([path, content]) => state.git.files.get(path)?.equals(content) === true) &&
    [...saved.files].every(([path, { mode, oid }]) => {
      const there = state.files.get(path);
      return there?.mode === mode && there.oid === oid;
    });
  if (isBack) return;
  throw new AoError("busy", `${keeping.root} keeps changing while work is put back`, {
    hint: "end what works in it and try again",
    details: { path: keeping.root },
  });
}
