import { readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { AoError, errorMessage } from "../../domain/errors.ts";
import { parseProjectId, parseSessionId } from "../../domain/ids.ts";
import { parseOperationId } from "../../domain/operation.ts";
import type { MarkedWorkspace, WorkspaceRef } from "../../ports/workspace.ts";
import { entryAt } from "./entry-at.ts";
import { type Marker, readMarker } from "./marker.ts";
import { operationOfReason } from "./operation-marks.ts";
import type { Context } from "./place.ts";
import { realpathOfAny } from "./safe-path.ts";
import { hasCode } from "./system-error.ts";
import { listHeld } from "./trash.ts";
import { lockReason, readGitLink, readRecord, type WorktreeRecord } from "./worktree-records.ts";

type Managed = Pick<Context, "managedRoot" | "trash">;

/** `Workspace.marked`, read from files alone. */
export async function markedWorktrees(managed: Managed): Promise<readonly MarkedWorkspace[]> {
  const held = await Promise.all((await listHeld(managed.trash)).map((tree) => heldAt(managed, tree)));
  const standing = await Promise.all(
    (await foldersOf(managed.managedRoot)).map((ref) => markedAt(managed, ref)),
  );
  const all = [...held.filter((one) => one !== undefined), ...standing];
  return all.sort((a, b) => (a.ref.path < b.ref.path ? -1 : 1));
}

/** Every `<root>/<project>/<session>`; what has another name is not ours. */
async function foldersOf(managedRoot: string): Promise<readonly WorkspaceRef[]> {
  const projects = (await namesIn(managedRoot)).map(parseProjectId).filter((id) => id !== undefined);
  const refs = projects.map(async (projectId): Promise<readonly WorkspaceRef[]> => {
    const folder = join(managedRoot, projectId);
    const sessions = (await namesIn(folder)).map(parseSessionId).filter((id) => id !== undefined);
    return sessions.map((sessionId) => ({
      ...{ projectId, sessionId, repositoryPath: "" },
      path: join(folder, sessionId),
    }));
  });
  return (await Promise.all(refs)).flat();
}

/** What cannot be read of one is its flaw: the others are told all the same. */
function markedAt(managed: Managed, ref: WorkspaceRef): Promise<MarkedWorkspace> {
  return judgedAt(managed, ref).catch((error: unknown) => flawed(ref, errorMessage(error)));
}

async function judgedAt(managed: Managed, ref: WorkspaceRef): Promise<MarkedWorkspace> {
  const link = await readGitLink(ref.path);
  if (link.kind === "broken") return flawed(ref, link.cause);
  if (link.kind === "repository") return flawed(ref, "another repository is there");
  const record = await readRecord(link.gitDir);
  const known = { ...ref, repositoryPath: repositoryOf(link.gitDir) };
  if (record === undefined) return flawed(known, "its repository does not know it");
  if (record.path !== (await realpathOfAny(ref.path))) return flawed(known, `it belongs at ${record.path}`);
  return judged(managed, known, record);
}

async function judged(
  { managedRoot }: Managed,
  ref: WorkspaceRef,
  record: WorktreeRecord,
): Promise<MarkedWorkspace> {
  const [marker, reason] = await Promise.all([readMarker(record.gitDir), lockReason(record)]);
  const making = operationOfReason(reason);
  if (marker === undefined) {
    return { ...flawed(ref, "it has no mark of ao"), operationId: making };
  }
  const whole = marked(ref, marker);
  if (marker.sessionId !== ref.sessionId || marker.managedRoot !== managedRoot) {
    return { ...whole, flaw: `it is marked as ${marker.sessionId} of ${marker.managedRoot}` };
  }
  if (making === null) return whole;
  const operationId = marker.spare === undefined ? whole.operationId : making;
  return { ...whole, operationId, flaw: "its making was not finished" };
}

/**
 * One that an interrupted removal moved aside; it belongs where git remembers it. What nobody can judge any more
 * is told where it is; what is gone meanwhile was freed by who moved it.
 */
async function heldAt(managed: Managed, tree: string): Promise<MarkedWorkspace | undefined> {
  const isGoing = tree.endsWith(".going");
  const sessionId = parseSessionId(basename(tree).replace(/\.held$|\.\d+\.going$/, ""));
  const projectId = sessionId && parseProjectId(sessionId.replace(/-\d+$/, ""));
  if (sessionId === undefined || projectId === undefined) return undefined;
  const ref = { projectId, sessionId, path: tree, repositoryPath: "" };
  const found = await judgedHeld(managed, ref).catch((error: unknown) => errorMessage(error));
  if (typeof found !== "string") return found;
  // Nobody's work: the sweep takes it once git has forgotten it.
  if (isGoing) return undefined;
  return (await entryAt(tree)) === undefined
    ? undefined
    : flawed(ref, `a removal that was broken off left it there, and ${found}`);
}

/** Or why nobody can judge it. */
async function judgedHeld({ managedRoot }: Managed, ref: WorkspaceRef): Promise<MarkedWorkspace | string> {
  const link = await readGitLink(ref.path);
  if (link.kind === "broken") return link.cause;
  if (link.kind === "repository") return "another repository is there";
  const record = await readRecord(link.gitDir);
  if (record === undefined) return "its repository does not know it";
  const marker = await readMarker(record.gitDir);
  const projectId = marker && parseProjectId(marker.projectId);
  if (marker?.sessionId !== ref.sessionId || projectId === undefined) return "it has no mark of ao";
  if (marker.managedRoot !== managedRoot) return `it is marked as one of ${marker.managedRoot}`;
  return marked(
    { ...ref, projectId, path: record.path, repositoryPath: repositoryOf(record.gitDir) },
    marker,
  );
}

function marked(
  ref: WorkspaceRef,
  { repositoryPath, operationId, createdAtMs, spare }: Marker,
): MarkedWorkspace {
  return {
    ref: { ...ref, repositoryPath: repositoryPath ?? ref.repositoryPath },
    operationId: operationId === null ? null : (parseOperationId(operationId) ?? null),
    createdAtMs,
    flaw: null,
    ...(spare && { spare: { baseCommit: spare.baseCommit } }),
  };
}

function flawed(ref: WorkspaceRef, flaw: string): MarkedWorkspace {
  return { ref, operationId: null, createdAtMs: null, flaw };
}

/** `<common>/worktrees/<id>` leads to the common git directory, from which git finds the rest. */
const repositoryOf = (gitDir: string): string => dirname(dirname(gitDir));

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (hasCode(error, "ENOENT") || hasCode(error, "ENOTDIR")) return [];
    throw new AoError("data_dir_unusable", `${folder} cannot be read: ${errorMessage(error)}`, {
      cause: error,
    });
  }
}
