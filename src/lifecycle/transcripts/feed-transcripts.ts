import { errorMessage } from "../../domain/errors.ts";
import type { HookEvent } from "../../domain/facts.ts";
import { isTerminal } from "../../domain/lifecycle.ts";
import type { SessionRecord } from "../../domain/session.ts";
import type { ConversationEntry } from "../../domain/transcript/conversation-entry.ts";
import type { ToldEntry } from "../../domain/transcript/merge-conversation.ts";
import type { Agent } from "../../ports/agent.ts";
import type { SessionDeps } from "../deps.ts";
import { conversationPlace } from "../launch-agent.ts";
import { factsOf, foldFacts } from "../observe/fold-facts.ts";
import { eventsOf, type Facts, type SaveDeps } from "../observe/gather-facts.ts";
import { lastHeardMs } from "../observe/last-heard.ts";
import { crossing } from "../operations/crossing.ts";
import type { Heard } from "../turns/record-turns.ts";
import { turnsBegun } from "../turns/turns-begun.ts";
import { holdsAll, saveConversation } from "./save-conversation.ts";
import { transcriptRef } from "./transcript-ref.ts";
import { turnsOfLog } from "./turns-of-log.ts";
import { clearUnsaved, markUnsaved, type Unsaved, unsavedIds } from "./unsaved.ts";

export interface FeedOptions {
  /** Nothing may come after these facts, so that the agents' own logs are read as well. */
  readonly areLast?: boolean;
}

/** Longer than a save takes. */
const LOCK_WAIT_MS = 5000;

/** What is to be saved of one session. */
interface News {
  readonly record: SessionRecord;
  readonly agent: Agent;
  readonly readsLog: boolean;
  readonly isRetry: boolean;
  /** Nothing comes after what is known now. */
  readonly isOver: boolean;
}

/**
 * Saves what was said in sessions to their transcripts, each thing once and in order: what hooks told, and from
 * the agent's own log what they did not, also once a session is over. Only sessions with news are touched.
 * What fails is remembered, stops no other session, and is tried again at the next save.
 *
 * @returns the sessions whose events must wait, and why.
 */
export async function feedTranscripts(
  deps: SaveDeps,
  facts: Facts,
  options: FeedOptions = {},
): Promise<readonly Unsaved[]> {
  const retried = new Set(await unsavedIds(deps));
  const unsaved: Unsaved[] = [];
  for (const record of facts.records) {
    const news = newsOf(deps, facts, { record, isRetry: retried.has(record.id), ...options });
    const cause = news === undefined ? null : await feed(deps, facts, news);
    if (cause !== null) unsaved.push({ id: record.id, cause });
  }
  return unsaved;
}

/** Whether an event says something of its conversation. */
export function tells(agents: SessionDeps["agents"], event: HookEvent): boolean {
  return (agents.get(event.agent)?.interpret(event)?.said ?? []).length > 0;
}

function newsOf(
  deps: SaveDeps,
  facts: Facts,
  { record, isRetry, areLast = false }: FeedOptions & Pick<News, "record" | "isRetry">,
): News | undefined {
  const agent = deps.agents.get(record.metadata.agent);
  if (agent === undefined) return undefined;
  const keepsLog = agent.readConversation !== undefined;
  const isOver = areLast || isEnding(deps, facts, record);
  const readsLog = keepsLog && (isOver || isRetry || isLogged(deps, facts, record));
  const isNews =
    readsLog || isRetry || isOver || eventsOf(facts, record).some((event) => tells(deps.agents, event));
  return isNews ? { record, agent, readsLog, isRetry, isOver } : undefined;
}

/** Whether the agent's own log is the one to tell what was said since. */
function isLogged(deps: SaveDeps, facts: Facts, record: SessionRecord): boolean {
  const isTold = (event: HookEvent) => deps.agents.get(event.agent)?.interpret(event)?.logged === true;
  return isToldByLog(facts, record) || eventsOf(facts, record).some(isTold);
}

/** Whether what ended its work was told by its log alone: what it said before that may be there alone, too. */
function isToldByLog({ logged, events }: Facts, record: SessionRecord): boolean {
  const said = logged.get(record.id);
  return said !== undefined && said.state !== "active" && lastHeardMs(events, record) !== null;
}

function isEnding(deps: SaveDeps, facts: Facts, record: SessionRecord): boolean {
  return !isTerminal(record.lifecycle) && isTerminal(foldFacts(deps, facts, record).lifecycle);
}

/** @returns why it could not be saved; `null` when it was. */
async function feed(deps: SaveDeps, facts: Facts, news: News): Promise<string | null> {
  const { id } = news.record;
  try {
    await saveNews(deps, facts, news);
    if (news.isRetry) await clearUnsaved(deps, id);
    return null;
  } catch (error) {
    const cause = errorMessage(error);
    await markUnsaved(deps, { id, cause });
    return cause;
  }
}

async function saveNews(
  deps: SaveDeps,
  facts: Facts,
  { record, agent, readsLog, isOver }: News,
): Promise<void> {
  const told = toldByHooks(deps, facts, { record, agent });
  const conversations = conversationsOf(record);
  const concerned = new Set([...conversations.slice(-1), ...told.map((one) => one.conversationId)]);
  const log = () => toldByLog(deps, facts, { record, agent, conversations: concerned });
  const heard = readsLog ? [...told, ...(await log())] : told;
  const about = { id: record.id, ref: transcriptRef(deps, record), isOver };
  const conversation = { ...about, told: heard, conversations, log };
  // Most logs say nothing that was not heard; events are taken away only after a save.
  if (told.length === 0 && (await holdsAll(deps, conversation))) return;
  const save = () => saveConversation(deps, conversation);
  await crossing(deps, "observe.transcript", () =>
    deps.locks.withLock(`conversation ${record.id}`, save, { waitMs: LOCK_WAIT_MS }),
  );
}

/** Oldest first. */
function conversationsOf({ metadata }: SessionRecord): readonly string[] {
  const { previousAgentSessionIds, agentSessionId } = metadata;
  const earlier = previousAgentSessionIds.filter((id) => id !== agentSessionId);
  return agentSessionId === null ? earlier : [...earlier, agentSessionId];
}

type Speaker = Pick<News, "record" | "agent">;

/** Also by events of another launch: what was said was said. */
function toldByHooks(deps: SaveDeps, facts: Facts, { record, agent }: Speaker): readonly ToldEntry[] {
  const turns = turnsBegun(deps, heardOf(deps, facts, record));
  return eventsOf(facts, record)
    .filter((event) => event.agent === agent.name)
    .flatMap((event) => {
      const signal = agent.interpret(event);
      const conversationId = signal?.agentSessionId ?? record.metadata.agentSessionId;
      if (conversationId === null) return [];
      const about = { conversationId, source: "hook", turnId: turns.get(event.id) ?? null } as const;
      const said = (signal?.said ?? []).filter(isNotPast(record, conversationId));
      return said.map((entry) => ({ ...about, entry }));
    });
}

function heardOf(deps: SaveDeps, facts: Facts, record: SessionRecord): Heard {
  return { before: record, facts: factsOf(deps, facts, record), nowMs: facts.takenAtMs };
}

/** What a fork took over from another session is in its transcript already. */
function isNotPast({ metadata: { fork } }: SessionRecord, conversationId: string) {
  const through = fork?.inheritedThrough ?? null;
  const isCopy = (fork?.conversationId ?? conversationId) === conversationId;
  return ({ position }: ConversationEntry) => through === null || !isCopy || position > through;
}

async function toldByLog(
  deps: SaveDeps,
  facts: Facts,
  { record, agent, conversations }: Speaker & { readonly conversations: ReadonlySet<string> },
): Promise<readonly ToldEntry[]> {
  const place = conversationPlace(deps.dataDir, record);
  const told: ToldEntry[] = [];
  for (const conversationId of conversations) {
    const all = (await agent.readConversation?.(conversationId, place)) ?? [];
    const entries = all.filter(isNotPast(record, conversationId));
    const turns = turnsOfLog(deps, heardOf(deps, facts, record), entries);
    const about = { conversationId, source: "agent_log" } as const;
    for (const entry of entries) told.push({ ...about, turnId: turns.get(entry) ?? null, entry });
  }
  return told;
}
