import type { LeasedOperation } from "../../domain/operation.ts";
import type { SessionRecord } from "../../domain/session.ts";
import type { SessionDeps } from "../deps.ts";
import { environmentFlaw } from "./asked-environment.ts";
import { sameForkTurn } from "./find-turn.ts";
import { conversationsIn } from "./fork-point.ts";
import { type ForkProgress, forkInput, hashOf } from "./fork-progress.ts";
import { isPartWhole } from "./inherited-parts.ts";

/**
 * Why a fork can never be what it was asked to be, by proof; `null` while there is none. Changes nothing.
 *
 * @throws AoError what kept it from looking, which proves nothing.
 */
export async function provenInconsistency(
  deps: SessionDeps,
  held: LeasedOperation,
  progress: ForkProgress,
): Promise<string | null> {
  const { frozen, hash } = progress;
  if (hash === null) return "it was broken off before what it copies was kept";
  if (hash !== hashOf(deps.ids, frozen)) return "what it copies is not what was put on record";
  return (
    sourceFlaw(deps, held, progress) ??
    targetFlaw(deps, progress) ??
    (await checkpointFlaw(deps, progress)) ??
    (await transcriptFlaw(deps, progress)) ??
    (await environmentFlaw(deps, progress))
  );
}

function sourceFlaw(deps: SessionDeps, held: LeasedOperation, { frozen }: ForkProgress): string | null {
  const { sourceId } = forkInput(held);
  const missing = [sourceId, frozen.turnOf].find((id) => deps.store.get(id) === undefined);
  if (missing !== undefined) return `session ${missing} is gone`;
  const found = sameForkTurn(deps, frozen.turnOf, frozen.turnId);
  if (found?.checkpoint.commit !== frozen.checkpoint.commit) {
    return `turn ${frozen.turnId} of ${frozen.turnOf} is not what it was`;
  }
  const { agentSessionId, isRecorded } = frozen.conversation;
  const isRebound = isRecorded && !conversationsIn(found.owner).includes(agentSessionId);
  return isRebound ? `${frozen.turnOf} no longer has conversation ${agentSessionId}` : null;
}

function targetFlaw(
  { store }: Pick<SessionDeps, "store">,
  { frozen, accepted }: ForkProgress,
): string | null {
  const { id } = frozen.seed;
  if (store.get(id) !== undefined) return `session ${id} is there already`;
  const made = accepted?.agentSessionId ?? null;
  if (made === null) return null;
  if (made === frozen.conversation.agentSessionId) return "its conversation is that of its parent";
  const other = store.rows().sessions.find((row: SessionRecord) => conversationsIn(row).includes(made));
  return other === undefined ? null : `conversation ${made} is that of ${other.id}`;
}

async function checkpointFlaw(
  { snapshots }: Pick<SessionDeps, "snapshots">,
  { frozen, created }: ForkProgress,
): Promise<string | null> {
  const { id, metadata } = frozen.seed;
  const whose = created === null ? frozen.turnOf : id;
  const kept = await snapshots.checkpoints(metadata.repositoryPath, whose);
  const isThere = kept.some(({ commit }) => commit === frozen.checkpoint.commit);
  return isThere ? null : `the files at the end of turn ${frozen.turnId} are gone`;
}

async function transcriptFlaw(deps: SessionDeps, { frozen }: ForkProgress): Promise<string | null> {
  for (const part of frozen.inherits) {
    const isWhole = await isPartWhole(deps, frozen.seed.projectId, part);
    if (!isWhole) return `what was said through turn ${frozen.turnId} is not what was kept (${part.name})`;
  }
  return null;
}
