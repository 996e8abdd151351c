import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { unseen } from "./entry-at.ts";
import { saysNothing } from "./system-error.ts";

/**
 * One thing that was put into a worktree when it was made; while it stays as it was, it is nobody's work. Of a copy the
 * original has to stay as well.
 */
export type PutItem =
  | { readonly path: string; readonly kind: "symlink"; readonly target: string }
  /** `made` is what a post-create command or a hook left behind. */
  | { readonly path: string; readonly kind: "copy" | "made"; readonly sha256: string };

/** Says of a worktree that it was made ahead, as the last step of that. */
export interface SpareMark {
  /** The commit that is checked out in it, on no branch. */
  readonly baseCommit: string;
  /** What `spareState` said of it then. */
  readonly state: string;
}

/** Says in a worktree's private git directory whose it is. Lost with the worktree, never part of a commit. */
export interface Marker {
  readonly sessionId: string;
  readonly projectId: string;
  readonly managedRoot: string;
  readonly repositoryPath: string | null;
  /** The operation that made it; `null` when there was none. */
  readonly operationId: string | null;
  readonly createdAtMs: number;
  readonly put: readonly PutItem[];
  /** It is no session's yet. */
  readonly spare?: SpareMark;
}

const FILE = "ao.json";

/** Writes the marker, mode 0600; a reader sees the old one or the new one, whole. */
export async function writeMarker(gitDir: string, marker: Marker): Promise<void> {
  const path = join(gitDir, FILE);
  await writeFile(`${path}.new`, `${JSON.stringify(marker, null, 2)}\n`, { mode: 0o600 });
  await rename(`${path}.new`, path);
}

/**
 * The marker of a private git directory; `undefined` when there is none, or what is there is no marker.
 *
 * @throws AoError git_unavailable when there is one that cannot be read.
 */
export async function readMarker(gitDir: string): Promise<Marker | undefined> {
  const text = await textOf(join(gitDir, FILE));
  if (text === undefined) return undefined;
  try {
    return parseMarker(JSON.parse(text));
  } catch {
    return undefined;
  }
}

async function textOf(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (saysNothing(error)) return undefined;
    throw unseen(path, error, "git_unavailable");
  }
}

function parseMarker(value: unknown): Marker | undefined {
  if (!isRecord(value)) return undefined;
  const { sessionId, projectId, managedRoot, createdAtMs, put } = value;
  const named =
    typeof sessionId === "string" && typeof projectId === "string" && typeof managedRoot === "string";
  if (!named || typeof createdAtMs !== "number" || !Array.isArray(put)) return undefined;
  const { repositoryPath, operationId } = value;
  return {
    ...{ sessionId, projectId, managedRoot, createdAtMs },
    repositoryPath: typeof repositoryPath === "string" ? repositoryPath : null,
    operationId: typeof operationId === "string" ? operationId : null,
    put: put.flatMap(parsePutItem),
    ...parseSpare(value["spare"]),
  };
}

function parseSpare(value: unknown): Pick<Marker, "spare"> {
  if (!isRecord(value)) return {};
  const { baseCommit, state } = value;
  return typeof baseCommit === "string" && typeof state === "string" ? { spare: { baseCommit, state } } : {};
}

/** An item that cannot be read is left out: what it stood for then counts as work. */
function parsePutItem(value: unknown): readonly PutItem[] {
  if (!isRecord(value)) return [];
  const { path, kind, target, sha256 } = value;
  if (typeof path !== "string") return [];
  if (kind === "symlink" && typeof target === "string") return [{ path, kind, target }];
  const isFile = kind === "copy" || kind === "made";
  return isFile && typeof sha256 === "string" ? [{ path, kind, sha256 }] : [];
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
