import { AoError } from "../../domain/errors.ts";
import type { TurnId } from "../../domain/ids.ts";
import type { SessionRecord } from "../../domain/session.ts";
import type { TranscriptMessage } from "../../domain/transcript/message.ts";
import type { Agent } from "../../ports/agent.ts";
import type { TranscriptReader } from "../../ports/transcript-results.ts";
import type { SessionDeps } from "../deps.ts";
import { conversationPlace, requireAgent } from "../launch-agent.ts";
import { gatherFacts } from "../observe/gather-facts.ts";
import { saveFacts } from "../observe/observe-sessions.ts";
import { requireSession } from "../session-refs.ts";
import { feedTranscripts } from "../transcripts/feed-transcripts.ts";
import { refusalError, transcriptRef } from "../transcripts/transcript-ref.ts";
import { type ForkTurn, findForkTurn } from "./find-turn.ts";
import type { Frozen } from "./fork-progress.ts";

/** Where a session can be forked, with all that has to be known of it. */
export interface ForkPoint extends ForkTurn {
  readonly agent: Agent;
  /** HEAD at the end of the turn. */
  readonly head: string | null;
  /** What the owner of the turn said through its end, what it inherited left out. */
  readonly messages: readonly TranscriptMessage[];
  readonly conversation: Frozen["conversation"];
}

/**
 * Looks where a session can be forked. What its agent told meanwhile is recorded first; else nothing changes.
 *
 * @throws AoError fork_unsupported when its agent cannot, or what was said in that turn is not known.
 * @throws AoError turn_not_found, turn_not_settled, checkpoint_not_found, transcript_damaged, agent_not_found
 */
export async function findForkPoint(
  deps: SessionDeps,
  source: SessionRecord,
  turnId: TurnId | null,
): Promise<ForkPoint> {
  const agent = requireAgent(deps, source.metadata.agent);
  if (agent.fork === undefined) throw unsupported(source, `agent ${agent.name} cannot fork a conversation`);
  await listen(deps, source);
  const found = findForkTurn(deps, requireSession(deps, source.id), turnId);
  const head = await headOf(deps, found);
  const { messages, isLast } = await throughTurn(deps, found);
  const last = messages.at(-1);
  const [conversationId, position] = [last?.["conversationId"], last?.["position"]];
  if (typeof conversationId !== "string" || typeof position !== "number") {
    throw unsupported(source, `nobody told what was said in turn ${found.turn.turnId}`);
  }
  if (agent.fork.kind === "native" && !(isLast && isNewest(deps, found))) {
    throw unsupported(source, `agent ${agent.name} forks a conversation only at its end`);
  }
  const { workspacePath, home } = conversationPlace(deps.dataDir, found.owner);
  const isRecorded = conversationsIn(found.owner).includes(conversationId);
  const conversation = {
    agentSessionId: conversationId,
    ...{ workspacePath, home },
    throughPosition: position,
    isRecorded,
  };
  return { ...found, agent, head, messages, conversation };
}

/** The conversations that a session's row names. */
export function conversationsIn({ metadata }: SessionRecord): readonly string[] {
  const { agentSessionId, previousAgentSessionIds } = metadata;
  return agentSessionId === null ? previousAgentSessionIds : [...previousAgentSessionIds, agentSessionId];
}

function unsupported({ id, metadata }: SessionRecord, why: string): AoError {
  return new AoError("fork_unsupported", `session ${id} cannot be forked: ${why}`, {
    hint: "ao agents says which agents can fork",
    details: { agent: metadata.agent },
  });
}

/** The agent's own log is asked as well: a hook may have been lost. */
async function listen(deps: SessionDeps, { id }: SessionRecord): Promise<void> {
  const facts = await gatherFacts(deps, { load: () => [requireSession(deps, id)], lookAt: () => false });
  await saveFacts(deps, facts);
  const [cause] = await feedTranscripts(
    deps,
    { ...facts, records: [requireSession(deps, id)] },
    { areLast: true },
  );
  if (cause === undefined) return;
  throw new AoError("data_dir_unusable", `what was said in ${id} cannot be saved: ${cause.cause}`);
}

async function headOf(deps: SessionDeps, { owner, turn, checkpoint }: ForkTurn): Promise<string | null> {
  const kept = await deps.snapshots.checkpoints(owner.metadata.repositoryPath, owner.id);
  const found = kept.find(({ ref }) => ref === checkpoint.ref);
  if (found?.commit === checkpoint.commit) return found.head;
  throw new AoError("checkpoint_not_found", `the files at the end of turn ${turn.turnId} are gone`, {
    details: { ref: checkpoint.ref, commit: checkpoint.commit },
  });
}

interface Through {
  readonly messages: readonly TranscriptMessage[];
  /** Nothing was said after it. */
  readonly isLast: boolean;
}

async function throughTurn(deps: SessionDeps, { owner, turn }: ForkTurn): Promise<Through> {
  const read = await deps.transcripts.read(transcriptRef(deps, owner), (reader) => take(reader, turn.turnId));
  if (read.kind === "refused") throw refusalError(owner.id, read.refusal);
  if (read.kind === "missing") return { messages: [], isLast: true };
  const { messages, isLast, hasGap } = read.result;
  if (!hasGap) return { messages, isLast };
  throw refusalError(owner.id, { reason: "damaged", path: transcriptRef(deps, owner).folder });
}

async function take(reader: TranscriptReader, turnId: TurnId) {
  const all: TranscriptMessage[] = [];
  for await (const { message } of reader.messages(0)) all.push(message);
  const count = all.findLastIndex((message) => message.turnId === turnId) + 1;
  const hasGap = reader.gaps.some(({ first }) => first < count);
  return { messages: all.slice(0, count), isLast: count === all.length, hasGap };
}

function isNewest({ turns }: Pick<SessionDeps, "turns">, { owner, turn }: ForkTurn): boolean {
  return turns.newest(owner.id)?.turnId === turn.turnId;
}
