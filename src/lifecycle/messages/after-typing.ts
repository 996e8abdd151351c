import type { AoError } from "../../domain/errors.ts";
import type { Message } from "../../domain/message.ts";
import { failDelivery, takeBackDelivery } from "../../domain/message-transitions.ts";
import type { SessionRecord } from "../../domain/session.ts";
import { type BookPage, enterMessage, enterTurn } from "../../domain/turn-book.ts";
import type { SessionDeps } from "../deps.ts";
import { bookContext, storedPage, writeChanges } from "../turns/turn-pages.ts";
import { requireMessage } from "./message-rows.ts";

type AfterDeps = Pick<
  SessionDeps,
  "store" | "turns" | "messages" | "operations" | "changes" | "clock" | "ids"
>;

/** Saves the next version of a message, unless something else was heard of it meanwhile. */
export function saveMessage(deps: AfterDeps, before: Message, after: Message): void {
  if (after === before) return;
  deps.store.transaction(() => {
    if (requireMessage(deps, before.id).version !== before.version) return;
    writeChanges(deps, [{ kind: "message", message: after }], deps.clock.nowMs());
  });
}

interface FailedTyping {
  readonly record: SessionRecord;
  readonly message: Message;
  readonly error: AoError;
}

/**
 * What a failure to type comes to. Where it is certain that nothing was typed, the turn that was expected is over,
 * and the message waits for another try, or has failed when that would not help. Else it is left on its way: it
 * may have arrived.
 */
export function settleTyping(deps: AfterDeps, failed: FailedTyping): void {
  const { record, message, error } = failed;
  deps.store.transaction(() => {
    const nowMs = deps.clock.nowMs();
    const stored = requireMessage(deps, message.id);
    const next = afterError(stored, error, nowMs);
    if (next === stored) return;
    const page = enterMessage(storedPage(deps, record), stored, next);
    writeChanges(deps, withoutTurn(deps, page, { ...failed, nowMs }).changes, nowMs);
  });
}

function afterError(message: Message, { code, message: text }: AoError, nowMs: number): Message {
  switch (code) {
    case "delivery_failed":
    case "message_unsafe":
      return failDelivery(message, { code, message: text }, nowMs);
    case "not_running":
    case "runtime_unavailable":
      return takeBackDelivery(message, nowMs);
    default:
      return message;
  }
}

function withoutTurn(
  deps: AfterDeps,
  page: BookPage,
  { record, message, error, nowMs }: FailedTyping & { readonly nowMs: number },
): BookPage {
  const { live } = page.book;
  // An answer belongs to a turn that goes on without it.
  if (live === undefined || live.messageId !== message.id) return page;
  return enterTurn(page, bookContext(deps, record, undefined), {
    ...{ turnId: live.turnId, phase: "settled", outcome: "failed", birth: live },
    error: { code: error.code, message: error.message },
    occurredAtMs: Math.max(nowMs, live.updatedAtMs),
  });
}
