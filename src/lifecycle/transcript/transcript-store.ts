import { LOAD_BUDGETS } from "../../domain/transcript/budgets.ts";
import type { TranscriptPaths } from "../../domain/transcript/names.ts";
import {
  copyNames,
  type TranscriptRef,
  transcriptNames,
  transcriptPaths,
} from "../../domain/transcript/names.ts";
import type { Locks } from "../../ports/locks.ts";
import type { TranscriptStore } from "../../ports/transcript-store.ts";
import type { TranscriptContext } from "./context.ts";
import { loadTranscript } from "./load.ts";
import { emptyTrash, pruneTranscript } from "./prune.ts";
import { readEnd } from "./read-end.ts";
import { sizeOf } from "./read-file.ts";
import { readTranscript } from "./read-transcript.ts";
import { repairTranscript } from "./repair.ts";
import { saveAppend } from "./save-append.ts";
import { saveRewrite } from "./save-rewrite.ts";
import { summarize } from "./summary.ts";
import { beginTurn, changeMarker, prepareCommit, resumeTurn, turnInFlight } from "./turn-markers.ts";
import { verifyTranscript } from "./verify.ts";

export interface TranscriptStoreDeps extends TranscriptContext {
  readonly locks: Pick<Locks, "withLock">;
  /** How long a writer waits for another one, in milliseconds; 5 s when absent. */
  readonly lockWaitMs?: number;
}

const LOCK_WAIT_MS = 5000;

/** The transcript store on a file port; all it knows is in the files. */
export function transcriptStore(deps: TranscriptStoreDeps): TranscriptStore {
  const alone = <Result>(ref: TranscriptRef, work: (paths: TranscriptPaths) => Promise<Result>) => {
    const paths = transcriptPaths(ref);
    const name = `transcript ${paths.folder}/${paths.name}`;
    return deps.locks.withLock(name, () => work(paths), { waitMs: deps.lockWaitMs ?? LOCK_WAIT_MS });
  };
  const saveSnapshot: TranscriptStore["saveSnapshot"] = (ref, draft) =>
    alone(ref, (paths) => saveAppend(deps, paths, draft));
  return {
    load: (ref, budgets) => loadTranscript(deps, transcriptPaths(ref), { ...LOAD_BUDGETS, ...budgets }),
    read: (ref, work) => readTranscript(deps, transcriptPaths(ref), work),
    end: (ref, limit) => readEnd(deps, transcriptPaths(ref), limit),
    summary: (ref) => summarize(deps, transcriptPaths(ref)),
    save: saveSnapshot,
    saveSnapshot,
    saveRewrite: (ref, draft) => alone(ref, (paths) => saveRewrite(deps, paths, draft, { erases: false })),
    saveRewriteCompact: (ref, draft) =>
      alone(ref, (paths) => saveRewrite(deps, paths, draft, { erases: true })),
    beginTurn: (ref, turn) => alone(ref, (paths) => beginTurn(deps, paths, turn)),
    turnInFlight: (ref) => turnInFlight(deps, transcriptPaths(ref)),
    prepareCommit: (ref, id, final) => alone(ref, (paths) => prepareCommit(deps, paths, id, final)),
    clearTurn: (ref, id) => alone(ref, (paths) => changeMarker(deps, paths, id, () => null)),
    resumeTurn: (ref) => alone(ref, (paths) => resumeTurn(deps, paths)),
    async verify(ref) {
      const seen = await verifyTranscript(deps, transcriptPaths(ref));
      if (seen.health === "healthy" || seen.health === "missing") return seen;
      // Somebody may be in the middle of a save; where no lock can be had, what was seen is the answer.
      return alone(ref, (paths) => verifyTranscript(deps, paths)).catch(() => seen);
    },
    repair: (ref) => alone(ref, (paths) => repairTranscript(deps, paths)),
    async salvage(ref) {
      const path = transcriptPaths(ref).salvage;
      const bytes = await sizeOf(deps.files, path);
      return bytes === 0 ? null : { path, bytes };
    },
    async copies(ref) {
      const names = copyNames(ref, await deps.files.list(ref.folder));
      return names.map((name) => ({ folder: ref.folder, name }));
    },
    async list(folder) {
      const names = transcriptNames(await deps.files.list(folder));
      return names.map((name) => ({ folder, name }));
    },
    prune: (ref, to, mayGo) => alone(ref, (paths) => pruneTranscript(deps, paths, { to, mayGo })),
    emptyTrash: (from, beforeMs) => emptyTrash(deps, from, beforeMs),
  };
}
