import { checkpointRef } from "../../domain/checkpoint.ts";
import type { SessionId } from "../../domain/ids.ts";
import type { Snapshots } from "../../ports/snapshots.ts";
import { fileChanges, parted } from "./snapshot-rules.ts";
import { failAt, missing, newCommit, type SnapshotWorld } from "./snapshot-world.ts";
import { type Files, isSameFiles } from "./workspace-files.ts";

/** The checkpoints of the in-memory snapshots. */
export function memoryCheckpoints(
  world: SnapshotWorld,
): Pick<Snapshots, "take" | "forget" | "checkpoints" | "adopt" | "changes"> {
  const { taken, work } = world;
  const ofSession = (sessionId: SessionId) =>
    [...taken.values()].filter(({ checkpoint }) => checkpoint.sessionId === sessionId);
  return {
    async take({ path, sessionId }, turnId, edge, { isAnew = false } = {}) {
      failAt(world, "take");
      if (!world.workspace.exists(path)) return null;
      const ref = checkpointRef(sessionId, turnId, edge);
      const first = taken.get(ref);
      if (first !== undefined && !isAnew) return { ref, commit: first.checkpoint.commit };
      const [, files] = parted(work.state(path).files);
      const before = ofSession(sessionId).at(-1);
      const isSame = before !== undefined && isSameFiles(before.files, files);
      const commit = isSame ? before.checkpoint.commit : newCommit(world);
      taken.set(ref, { files, checkpoint: { ref, sessionId, turnId, edge, commit, head: null } });
      return { ref, commit };
    },
    async forget({ sessionId }, turnId, edge) {
      failAt(world, "forget");
      taken.delete(checkpointRef(sessionId, turnId, edge));
    },
    checkpoints: async (_repositoryPath, sessionId) =>
      ofSession(sessionId).map(({ checkpoint }) => checkpoint),
    async adopt(_repositoryPath, from, { sessionId, turnId }) {
      failAt(world, "adopt");
      const found = taken.get(from);
      if (found === undefined) throw missing("checkpoint_not_found", from);
      const ref = checkpointRef(sessionId, turnId, "end");
      const there = taken.get(ref) ?? found;
      if (there.checkpoint.commit !== found.checkpoint.commit) throw missing("checkpoint_not_found", ref);
      taken.set(ref, { ...found, checkpoint: { ...found.checkpoint, ref, sessionId, turnId, edge: "end" } });
      return { ref, commit: found.checkpoint.commit };
    },
    async changes(_repositoryPath, { since, now }) {
      failAt(world, "changes");
      const before = filesOf(world, since);
      if ("commit" in now) return fileChanges(before, filesOf(world, now.commit));
      const { path } = now.workspace;
      return world.workspace.exists(path) ? fileChanges(before, parted(work.state(path).files)[1]) : null;
    },
  };
}

function filesOf({ taken }: SnapshotWorld, commit: string): Files {
  const found = [...taken.values()].find(({ checkpoint }) => checkpoint.commit === commit);
  if (found === undefined) throw missing("checkpoint_not_found", commit);
  return found.files;
}
