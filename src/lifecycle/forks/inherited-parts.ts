import { canonicalJson } from "../../domain/canonical-json.ts";
import { dataLayout } from "../../domain/data-layout.ts";
import { AoError } from "../../domain/errors.ts";
import type { InheritedPart } from "../../domain/fork-origin.ts";
import type { ProjectId, SessionId } from "../../domain/ids.ts";
import type { Operation } from "../../domain/operation.ts";
import type { TranscriptMessage } from "../../domain/transcript/message.ts";
import type { TranscriptRef } from "../../domain/transcript/names.ts";
import type { SessionDeps } from "../deps.ts";
import { refusalError } from "../transcripts/transcript-ref.ts";
import { transcriptTrash } from "../transcripts/transcript-trash.ts";
import { forkProgress } from "./unfinished-forks.ts";

type Deps = Pick<SessionDeps, "transcripts" | "dataDir" | "locks">;

/** Longer than a save takes. */
const LOCK_WAIT_MS = 5000;

/** The folder of shared messages in that of a project's transcripts. */
export function inheritedFolder(transcripts: string): string {
  return `${transcripts}/forks`;
}

/** Where messages are kept that several sessions share. */
export function partRef(
  { dataDir }: Pick<SessionDeps, "dataDir">,
  projectId: ProjectId,
  name: string,
): TranscriptRef {
  return { folder: inheritedFolder(dataLayout(dataDir).transcriptFolder(projectId)), name };
}

/** What messages of a session are called, by their content: the same again are the same files. */
export function partName(
  { ids }: Pick<SessionDeps, "ids">,
  id: SessionId,
  messages: readonly TranscriptMessage[],
): string {
  return `${id}-${ids.digest(canonicalJson(messages))}`;
}

/**
 * Keeps messages under their name, durably. Kept already, nothing is written.
 *
 * @throws AoError store_busy, transcript_damaged, store_newer, data_dir_unusable
 */
export async function keepPart(
  deps: Deps,
  projectId: ProjectId,
  { name, messages }: { readonly name: string; readonly messages: readonly TranscriptMessage[] },
): Promise<InheritedPart> {
  const ref = partRef(deps, projectId, name);
  const save = () => deps.transcripts.save(ref, { base: null, messages });
  const result = await deps.locks.withLock(lockOf(projectId), save, { waitMs: LOCK_WAIT_MS });
  switch (result.kind) {
    case "saved":
    case "unchanged":
      return { name, count: result.head.count, digest: result.head.digest };
    case "refused":
      throw refusalError(name as SessionId, result.refusal);
    case "conflict":
    case "externally_removed":
      throw new AoError("transcript_damaged", `${ref.folder}/${name} is not what was kept there`, {
        hint: `move ${ref.folder}/${name}.* away`,
      });
  }
}

/** Whether the messages of a part are there, all of them and as they were. */
export async function isPartWhole(
  deps: Pick<SessionDeps, "transcripts" | "dataDir">,
  projectId: ProjectId,
  { name, count, digest }: InheritedPart,
): Promise<boolean> {
  const read = await deps.transcripts.read(partRef(deps, projectId, name), async ({ head, gaps }) => {
    return gaps.length === 0 && head.count === count && head.digest === digest;
  });
  return read.kind === "read" && read.result;
}

/** Moves parts into the trash that no session and no fork under way has any more. */
export async function releaseParts(
  deps: Deps & Pick<SessionDeps, "store" | "operations" | "clock">,
  projectId: ProjectId,
  { parts, except }: { readonly parts: readonly InheritedPart[]; readonly except: SessionId },
): Promise<void> {
  for (const { name } of parts) {
    await deps.locks.withLock(
      lockOf(projectId),
      async () => {
        if (isShared(deps, name, except)) return;
        await deps.transcripts.prune(partRef(deps, projectId, name), transcriptTrash(deps));
      },
      { waitMs: LOCK_WAIT_MS },
    );
  }
}

function lockOf(name: string): string {
  return `inherited ${name}`;
}

/** One row or operation that cannot be read may share anything. */
function isShared(
  { store, operations }: Pick<SessionDeps, "store" | "operations">,
  name: string,
  except: SessionId,
): boolean {
  const { sessions, unreadable } = store.rows();
  const forks = operations.unfinished();
  if (unreadable.length + forks.unreadable.length > 0) return true;
  const has = (parts: readonly InheritedPart[]) => parts.some((part) => part.name === name);
  const mayHave = (fork: Operation) => {
    const progress = forkProgress(fork);
    return progress === undefined || has(progress.frozen.inherits);
  };
  return (
    sessions.some(({ id, metadata }) => id !== except && has(metadata.fork?.inherits ?? [])) ||
    forks.operations.some((one) => one.kind === "fork" && one.sessionId !== except && mayHave(one))
  );
}
