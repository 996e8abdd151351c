import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { AoError, errorMessage } from "../../domain/errors.ts";
import { parseProjectId, parseSessionId } from "../../domain/ids.ts";
import type { MarkedWorkspace } from "../../ports/workspace.ts";
import { readMarker } from "./marker.ts";
import { hasCode } from "./trash.ts";
import { readGitLink } from "./worktree-records.ts";

/** `Workspace.marked`: every folder `<root>/<project>/<session>`, judged by files alone. */
export async function markedWorktrees(managedRoot: string): Promise<readonly MarkedWorkspace[]> {
  const found: MarkedWorkspace[] = [];
  for (const projectId of (await namesIn(managedRoot)).map(parseProjectId)) {
    if (projectId === undefined) continue;
    for (const sessionId of (await namesIn(join(managedRoot, projectId))).map(parseSessionId)) {
      if (sessionId === undefined) continue;
      const path = join(managedRoot, projectId, sessionId);
      found.push(await markedAt({ projectId, sessionId, path, repositoryPath: "" }));
    }
  }
  return found;
}

async function markedAt(ref: MarkedWorkspace["ref"]): Promise<MarkedWorkspace> {
  const unknown = { ref, operationId: null, createdAtMs: null };
  const link = await readGitLink(ref.path);
  if (link.kind === "broken") return { ...unknown, flaw: link.cause };
  if (link.kind === "repository") return { ...unknown, flaw: "another repository is there" };
  const repositoryPath = dirname(dirname(link.gitDir));
  const marker = await readMarker(link.gitDir);
  if (marker === undefined) {
    return { ...unknown, ref: { ...ref, repositoryPath }, flaw: "it has no mark of ao" };
  }
  const { createdAtMs } = marker;
  return { ref: { ...ref, repositoryPath }, operationId: null, createdAtMs, flaw: null };
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return (await readdir(folder)).sort();
  } catch (error) {
    if (hasCode(error, "ENOENT") || hasCode(error, "ENOTDIR")) return [];
    throw new AoError("data_dir_unusable", `${folder} cannot be read: ${errorMessage(error)}`, {
      cause: error,
    });
  }
}
