import { join } from "node:path";
import {
  type Checkpoint,
  checkpointRef,
  checkpointsOf,
  parseCheckpointRef,
} from "../../../domain/checkpoint.ts";
import { AoError } from "../../../domain/errors.ts";
import { gitFailed } from "../git-failure.ts";
import { makeCommit, makeRef } from "./ao-commit.ts";
import { copyIndex } from "./copy-index.ts";
import { headCommit } from "./git-state.ts";
import type { Keeping } from "./keep-work.ts";
import type { Plumbing } from "./plumbing.ts";
import { refuseUnkeepable } from "./refuse-unkeepable.ts";
import { scanFiles } from "./scan-files.ts";
import { seenFiles } from "./seen-files.ts";
import { writeFilesTree } from "./store-tree.ts";
import { withTempFolder } from "./temp-folder.ts";
import { writeBlobs } from "./write-objects.ts";

export interface TakeRequest extends Pick<Checkpoint, "sessionId" | "turnId" | "edge"> {
  readonly atMs: number;
  readonly isAnew?: boolean;
}

interface Files {
  readonly tree: string;
  readonly head: string | null;
}

const ATTEMPTS = 3;

/** `Snapshots.take` for one worktree. */
export async function takeCheckpoint(keeping: Keeping, request: TakeRequest): Promise<Checkpoint> {
  const { plumbing, boundary } = keeping;
  const { sessionId, turnId, edge } = request;
  const ref = checkpointRef(sessionId, turnId, edge);
  const known = await findCheckpoints(plumbing, checkpointsOf(sessionId));
  const first = known.find((found) => found.ref === ref);
  if (first !== undefined && !request.isAnew) return plainCheckpoint(first);
  const { tree, head } = await storeFiles(keeping);
  const same = known.find((found) => found.tree === tree && found.head === head);
  const commit = same?.commit ?? (await commitOf(plumbing, request, { tree, head }));
  await boundary("checkpoint.ref:before");
  const isMade = first?.commit === commit || (await makeRef(plumbing, ref, commit, first?.commit));
  await boundary("checkpoint.ref:after");
  const other = isMade ? undefined : await findCheckpoint(plumbing, ref);
  return other ?? { ref, sessionId, turnId, edge, commit, head };
}

/** `Snapshots.adopt`: the same commit under another ref. */
export async function adoptCheckpoint(
  plumbing: Plumbing,
  from: Checkpoint,
  { sessionId, turnId }: Pick<Checkpoint, "sessionId" | "turnId">,
): Promise<Checkpoint | undefined> {
  const ref = checkpointRef(sessionId, turnId, "end");
  await makeRef(plumbing, ref, from.commit);
  const found = await findCheckpoint(plumbing, ref);
  return found?.commit === from.commit ? found : undefined;
}

/** The checkpoint of exactly this ref. */
export async function findCheckpoint(plumbing: Plumbing, ref: string): Promise<Checkpoint | undefined> {
  const found = (await findCheckpoints(plumbing, ref)).find((one) => one.ref === ref);
  return found === undefined ? undefined : plainCheckpoint(found);
}

/** The files of a worktree as a tree, which no ref holds yet. */
export async function storeFiles(keeping: Keeping): Promise<Files> {
  const { plumbing, root } = keeping;
  return withTempFolder(plumbing.gitDir, async (folder) => {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      // What is remembered is believed once: when it does not fit, all is read.
      const files = await tryToStore(keeping, { folder, mayRemember: attempt === 1 });
      if (files !== undefined) return files;
    }
    throw new AoError("busy", `${root} keeps changing while it is read`, { details: { path: root } });
  });
}

async function tryToStore(
  { plumbing, root, settings }: Keeping,
  { folder, mayRemember }: { readonly folder: string; readonly mayRemember: boolean },
): Promise<Files | undefined> {
  const seen = mayRemember ? await seenFiles(plumbing.gitDir, settings.format) : undefined;
  const index = await copyIndex({ plumbing, format: settings.format, path: join(folder, "index") });
  const [state, head] = await Promise.all([
    scanFiles({ root, index, settings, extra: [], closely: false, seen }),
    headCommit(plumbing),
  ]);
  refuseUnkeepable(root, state.unkeepable);
  if (!(await writeBlobs(plumbing, state.blobs, folder))) return undefined;
  await seen?.save();
  const skipped = index.content.entries.filter(
    ({ path, skipWorktree }) => skipWorktree && !state.files.has(path),
  );
  const leftOut = skipped.map(({ path, mode, oid }) => [path, { mode, oid }] as const);
  const files = new Map([...state.files, ...leftOut]);
  return { tree: await writeFilesTree(index, files), head };
}

function commitOf(
  plumbing: Plumbing,
  { sessionId, turnId, edge, atMs }: TakeRequest,
  { tree, head }: Files,
): Promise<string> {
  const parents = head === null ? [] : [head];
  const message = `files of ${sessionId} at the ${edge} of turn ${turnId}\n`;
  return makeCommit(plumbing, { tree, parents, message, atMs });
}

/** A checkpoint with the tree of its files. */
export interface FoundCheckpoint extends Checkpoint {
  readonly tree: string;
}

const FORMAT = "--format=%(refname) %(objectname) %(tree) %(parent)";

/** The checkpoints whose refs begin like this; a ref that is no checkpoint of ours is left out. */
export async function findCheckpoints(
  plumbing: Plumbing,
  prefix: string,
): Promise<readonly FoundCheckpoint[]> {
  const answer = await plumbing.tell("list checkpoints", ["for-each-ref", FORMAT, "--", prefix]);
  return answer.split("\n").flatMap((line) => {
    const [ref = "", commit = "", tree = "", head = ""] = line.split(" ");
    const named = parseCheckpointRef(ref);
    return named === undefined ? [] : [{ ...named, ref, commit, tree, head: head === "" ? null : head }];
  });
}

/** Removes the ref of a checkpoint, wherever it points. @throws AoError git_failed */
export async function forgetCheckpoint(plumbing: Plumbing, ref: string): Promise<void> {
  const result = await plumbing.ask(["update-ref", "--no-deref", "-d", ref]);
  if (result.exitCode !== 0) throw gitFailed(`give ${ref} up`, result.stderr);
}

/** The checkpoint without the tree of its files. */
export function plainCheckpoint({ tree: _tree, ...checkpoint }: FoundCheckpoint): Checkpoint {
  return checkpoint;
}
