import type { TurnId } from "../../domain/ids.ts";
import { beginDelivery, leaveUnconfirmed } from "../../domain/message-transitions.ts";
import type { SessionRecord } from "../../domain/session.ts";
import { type BookPage, enterMessage, enterTurn } from "../../domain/turn-book.ts";
import { endTurns } from "../../domain/turn-evidence.ts";
import type { SessionDeps } from "../deps.ts";
import { bookContext, storedPage, turnIdOf, writeChanges } from "../turns/turn-pages.ts";
import { insertMessage, nextMessage } from "./message-rows.ts";

type LaunchPromptDeps = Pick<
  SessionDeps,
  "store" | "turns" | "messages" | "operations" | "changes" | "clock" | "ids" | "agents"
>;

/** How a launch began. */
interface LaunchBeginning {
  /** A moment before the agent was started: what it has told since is its receipt. */
  readonly sinceMs: number;
  /** What an agent is to be sent that takes its first prompt as a message; absent for the recorded prompt. */
  readonly opening?: string | null | undefined;
}

/**
 * Records the prompt that a launch was started with as a message of its session, on its way, with the turn that
 * it begins; of an agent that takes it as a message, in its queue. Inside the transaction that makes the launch the
 * session's own. Nothing when there is no prompt.
 */
export function acceptLaunchPrompt(
  deps: LaunchPromptDeps,
  record: SessionRecord,
  { sinceMs, opening }: LaunchBeginning,
): void {
  const { launchId, agent: name } = record.metadata;
  const agent = deps.agents.get(name);
  const isMessage = agent?.capabilities.firstPrompt === "message";
  const prompt = deps.store.promptOf(record.id);
  const text = isMessage ? (opening ?? prompt) : prompt;
  if (text === null) return;
  const nowMs = deps.clock.nowMs();
  const earlier = deps.messages.queued(record.id).find(({ channel }) => channel === "launch");
  if (isMessage && earlier?.text === text) return;
  const queued = nextMessage(deps, record, { channel: "launch", requestId: null, text });
  insertMessage(deps, queued);
  if (isMessage) return;
  const hears = agent?.capabilities.hooks === true;
  const turnId = hears ? turnIdOf(deps, record.id, `message ${queued.id}`) : null;
  const context = bookContext(deps, record, agent);
  const free = endTurns(storedPage(deps, record), context, {
    nowMs,
    isGone: (launch) => launch !== launchId,
  });
  const begun = beginDelivery(queued, { launchId, turnId, sinceMs });
  const page = withTurn(enterMessage(free, queued, begun));
  const confirms = agent?.capabilities.receipts === true;
  const sent = confirms ? page : enterMessage(page, begun, leaveUnconfirmed(begun, nowMs));
  writeChanges(deps, sent.changes, nowMs);

  function withTurn(sofar: BookPage): BookPage {
    return turnId === null ? sofar : enterTurn(sofar, context, submission(turnId));
  }

  function submission(id: TurnId) {
    const birth = { launchId, origin: "user_prompt", messageId: queued.id } as const;
    return { turnId: id, phase: "submitted", occurredAtMs: sinceMs, birth } as const;
  }
}
