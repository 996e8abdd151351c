import type { MessageId, TurnId } from "../../domain/ids.ts";
import { isTerminal } from "../../domain/lifecycle.ts";
import type { DeliveringMessage, Message } from "../../domain/message.ts";
import { isDelivering } from "../../domain/message.ts";
import { beginDelivery } from "../../domain/message-transitions.ts";
import type { SessionRecord } from "../../domain/session.ts";
import type { TurnBirth, TurnCheckpoint } from "../../domain/turn.ts";
import { type BookPage, enterMessage, enterTurn } from "../../domain/turn-book.ts";
import { supersede } from "../../domain/turn-evidence.ts";
import type { SessionDeps } from "../deps.ts";
import { withdrawMessage } from "../goals/goal-rows.ts";
import { countTurn, mayDeliver } from "../goals/may-deliver.ts";
import { requireSession, workspaceRef } from "../session-refs.ts";
import { bookContext, storedPage, turnIdOf, writeChanges } from "../turns/turn-pages.ts";
import { whyHeldUp } from "./held-up.ts";
import { requireMessage } from "./message-rows.ts";
import { type LiveSession, observeLive } from "./observe-target.ts";
import { whyNotReady } from "./readiness.ts";

export type Marked =
  | { readonly kind: "marked"; readonly message: DeliveringMessage }
  | { readonly kind: "not_ready"; readonly why: string };

const MOVED: Marked = { kind: "not_ready", why: "the session changed meanwhile" };

/**
 * Puts on record that the keys of a queued message are sent next, together with the turn that they begin. The
 * files at its start are kept before that, and the agent looked at once more where that took time. They are kept
 * no longer when the turn does not begin.
 *
 * @throws AoError as `observeLive`; nothing is on record then.
 */
export async function markDelivery(deps: SessionDeps, live: LiveSession, id: MessageId): Promise<Marked> {
  const turnId = plannedTurn(deps, live, requireMessage(deps, id));
  if (turnId === null) return deps.store.transaction(() => mark(deps, live, { id, turnId }));
  const { record } = live;
  const start = await startOf(deps, record, turnId);
  try {
    const seen = start === null ? live : await observeLive(deps, record.id);
    return deps.store.transaction(() => {
      const marked = mark(deps, seen, { id, turnId });
      if (start !== null)
        deps.turns.keepCheckpoint({ ...record, sessionId: record.id, turnId }, "start", start);
      return marked;
    });
  } finally {
    await forgetUnbegun(deps, record, turnId);
  }
}

/** Another try has the same turn, and files that may be others by then. */
async function forgetUnbegun(
  { turns, checkpoints }: Pick<SessionDeps, "turns" | "checkpoints">,
  record: SessionRecord,
  turnId: TurnId,
): Promise<void> {
  if (turns.get({ ...record, sessionId: record.id, turnId }) !== undefined) return;
  await checkpoints.forget(workspaceRef(record), turnId, "start").catch(() => undefined);
}

/** The turn that a message begins; `null` for an answer, and with an agent whose turns nobody hears of. */
function plannedTurn(
  deps: Pick<SessionDeps, "ids">,
  { record, capabilities }: LiveSession,
  message: Message,
): TurnId | null {
  const isAnswer = record.lifecycle.activity.state === "waiting_input";
  if (capabilities?.hooks !== true || isAnswer) return null;
  return turnIdOf(deps, record.id, `message ${message.id} ${message.version}`);
}

async function startOf(
  { checkpoints }: Pick<SessionDeps, "checkpoints">,
  record: SessionRecord,
  turnId: TurnId,
): Promise<TurnCheckpoint | null> {
  return checkpoints.take(workspaceRef(record), turnId, "start", { isAnew: true }).catch(() => null);
}

function mark(
  deps: SessionDeps,
  { record: seen, capabilities }: LiveSession,
  { id, turnId }: { readonly id: MessageId; readonly turnId: TurnId | null },
): Marked {
  const record = requireSession(deps, seen.id);
  const { launchId } = record.metadata;
  const message = requireMessage(deps, id);
  if (isTerminal(record.lifecycle) || launchId !== seen.metadata.launchId) return MOVED;
  if (message.state.kind !== "queued") return MOVED;
  const why = whyHeldUp(deps, record.id) ?? whyNotReady(record, capabilities, deps.messages.sent(record.id));
  if (why !== null) return { kind: "not_ready", why };
  if (!mayDeliver(deps, message)) return withdrawn(deps, message);
  const sinceMs = deps.clock.nowMs();
  const page = storedPage(deps, record);
  const answered = turnId ?? page.book.live?.turnId ?? null;
  const delivering = beginDelivery(message, { launchId, turnId: answered, sinceMs });
  const begun = turnId === null ? page : withTurn(deps, page, { record, message, turnId, sinceMs });
  writeChanges(deps, enterMessage(begun, message, delivering).changes, sinceMs);
  countTurn(deps, message);
  return isDelivering(delivering) ? { kind: "marked", message: delivering } : MOVED;
}

/** Its goal has moved on: it is not sent any more, and whoever comes next takes the one after it. */
function withdrawn(deps: SessionDeps, message: Message): Marked {
  withdrawMessage(deps, message, "its goal is not wanted any more");
  return { kind: "not_ready", why: "its goal is not wanted any more" };
}

function withTurn(
  deps: SessionDeps,
  page: BookPage,
  turn: {
    readonly record: SessionRecord;
    readonly message: Message;
    readonly turnId: TurnId;
    readonly sinceMs: number;
  },
): BookPage {
  const { record, message, turnId, sinceMs } = turn;
  const context = bookContext(deps, record, undefined);
  const atMs = Math.max(sinceMs, page.book.live?.updatedAtMs ?? sinceMs);
  const birth: TurnBirth = {
    ...{ launchId: record.metadata.launchId, messageId: message.id },
    ...{ origin: message.goal?.origin ?? "user_prompt", goal: message.goal?.generation ?? null },
  };
  const free = supersede(page, context, atMs);
  return enterTurn(free, context, { turnId, phase: "submitted", occurredAtMs: sinceMs, birth });
}
