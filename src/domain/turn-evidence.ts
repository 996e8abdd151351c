import { assertNever } from "./assert-never.ts";
import type { LaunchId, TurnId } from "./ids.ts";
import type { ActivityState } from "./lifecycle.ts";
import type { SentMessage } from "./message.ts";
import { confirmDelivery, leaveUnconfirmed } from "./message-transitions.ts";
import { isSettledTurn, type LiveTurn, type TurnBirth, type TurnError, type TurnOutcome } from "./turn.ts";
import { type BookContext, type BookPage, enterMessage, enterTurn, turnOn } from "./turn-book.ts";
import type { TurnSignal } from "./turn-signal.ts";

/** What one hook event tells of the turns of its session. */
export interface TurnEvidence {
  readonly launchId: LaunchId;
  /** What a turn that begins with this event is called: equal for the same event, however often it is read. */
  readonly turnId: TurnId;
  readonly atMs: number;
  /**
   * It is known to follow all that counted before, whatever its time says. Without that, an event counts only
   * by its time, as one of a session that is over does.
   */
  readonly isNext: boolean;
  readonly signal: TurnSignal | null;
  readonly activity: ActivityState | null;
}

const END_NOT_SEEN: TurnError = { code: "end_not_seen", message: "its end was not reported" };
const NOT_TAKEN_UP: TurnError = {
  code: "delivery_unconfirmed",
  message: "the agent did not tell that it took the message up",
};

/** The page after one event. Pure; the same page when it tells nothing new. */
export function afterEvidence(page: BookPage, context: BookContext, evidence: TurnEvidence): BookPage {
  const { newest } = page.book;
  if (!evidence.isNext && newest !== undefined && evidence.atMs < newest.updatedAtMs) return page;
  const told = { ...evidence, atMs: timeOf(page, evidence) };
  return afterSignal(endOlderLaunch(page, context, told), context, told);
}

/** A hook may date its event a moment before what was recorded just ahead of it, and clocks are set back. */
function timeOf({ book }: BookPage, { isNext, atMs }: TurnEvidence): number {
  return isNext ? Math.max(atMs, book.live?.updatedAtMs ?? atMs) : atMs;
}

/** What another launch left: its agent is gone. */
function endOlderLaunch(page: BookPage, context: BookContext, { launchId, atMs }: TurnEvidence): BookPage {
  return endTurns(page, context, { nowMs: atMs, isGone: (launch) => launch !== launchId });
}

function afterSignal(page: BookPage, context: BookContext, evidence: TurnEvidence): BookPage {
  const { signal } = evidence;
  if (signal === null) return afterActivity(page, context, evidence);
  switch (signal.kind) {
    case "submitted":
      return afterSubmission(page, context, { ...evidence, signal });
    case "answered":
      return afterAnswer(page, context, { ...evidence, signal });
    case "stopped":
      return settle(page, context, { outcome: "completed", atMs: evidence.atMs });
    case "failed": {
      const { code, message } = signal;
      return settle(page, context, { outcome: "failed", error: { code, message }, atMs: evidence.atMs });
    }
    case "interrupted":
      return settle(page, context, { outcome: interruption(page, context), atMs: evidence.atMs });
    default:
      return assertNever(signal);
  }
}

/** A permission or question stops a turn for a while, and activity goes on with it. */
function afterActivity(page: BookPage, context: BookContext, evidence: TurnEvidence): BookPage {
  const { live } = page.book;
  const phase = live?.state.kind;
  if (phase === "running" && evidence.activity === "waiting_input") {
    return advance(page, context, { live, phase: "waiting", atMs: evidence.atMs });
  }
  if (phase === "waiting" && evidence.activity === "active") {
    return advance(page, context, { live, phase: "running", atMs: evidence.atMs });
  }
  return page;
}

type Submission = TurnEvidence & { readonly signal: { readonly text: string | null } };

function afterSubmission(
  page: BookPage,
  context: BookContext,
  evidence: Submission & { readonly signal: { readonly byAgent?: boolean } },
): BookPage {
  const { live, newest } = page.book;
  const { signal, atMs } = evidence;
  const message = receiptOf(page, context, evidence);
  if (message !== undefined) return takeUp(page, context, { ...evidence, message });
  if (live?.state.kind === "submitted") {
    // It does not tell the text, so it may be the one; no receipt, but the turn that was expected.
    if (signal.text === null) return advance(page, context, { live, phase: "running", atMs });
    // Somebody typed at the same moment: the place is taken by the message that comes next.
    if (messageOf(page, live)?.state.kind === "delivering") return page;
  }
  if (!evidence.isNext && newest !== undefined && atMs <= newest.updatedAtMs) return page;
  const origin = signal.byAgent === true ? "agent_initiated" : "user_prompt";
  return begin(supersede(page, context, atMs), context, { ...evidence, origin, goal: null, messageId: null });
}

/** A message of ours begins its turn, or goes on with the one it answers to. */
function takeUp(
  page: BookPage,
  context: BookContext,
  { message, ...evidence }: TurnEvidence & { readonly message: SentMessage },
): BookPage {
  const { atMs } = evidence;
  const expected = message.state.delivery.turnId;
  const stored = expected === null ? undefined : turnOn(page, context, expected);
  const isOver = stored === undefined || isSettledTurn(stored);
  const turnId = isOver ? evidence.turnId : stored.turnId;
  const free = page.book.live?.turnId === turnId ? page : supersede(page, context, atMs);
  const running = begin(free, context, {
    ...{ ...evidence, turnId },
    ...{ origin: message.goal?.origin ?? "user_prompt", goal: message.goal?.generation ?? null },
    messageId: message.id,
  });
  return enterMessage(running, message, confirmDelivery(message, turnId, atMs));
}

function afterAnswer(page: BookPage, context: BookContext, evidence: Submission): BookPage {
  const { live } = page.book;
  if (live === undefined) return afterSubmission(page, context, evidence);
  const running = advance(page, context, { live, phase: "running", atMs: evidence.atMs });
  const message = receiptOf(page, context, evidence);
  if (message === undefined) return running;
  return enterMessage(running, message, confirmDelivery(message, live.turnId, evidence.atMs));
}

/**
 * The message whose receipt an event is: what its launch was started with, which begins what it then tells, as
 * rules may follow; else the one on its way, else the oldest that was not confirmed.
 */
function receiptOf(
  { book }: BookPage,
  context: BookContext,
  { launchId, signal: { text } }: Submission,
): SentMessage | undefined {
  const sent = book.sent.filter(({ state }) => state.delivery.launchId === launchId);
  const opening = sent.find(({ channel }) => channel === "launch");
  const opens = (one: SentMessage) =>
    text === null || isOpenedBy(text, one.text) || context.isSameText(one.text, text);
  if (opening !== undefined && opens(opening)) return opening;
  if (text === null) return undefined;
  const matching = sent.filter((one) => one !== opening && context.isSameText(one.text, text));
  return matching.find(({ state }) => state.kind === "delivering") ?? matching[0];
}

/** Space before it may be left out by the agent, or have been put there (`literalText`). */
function isOpenedBy(text: string, opening: string): boolean {
  return text.trimStart().startsWith(opening.trimStart());
}

function begin(
  page: BookPage,
  context: BookContext,
  turn: TurnEvidence & Omit<TurnBirth, "launchId">,
): BookPage {
  const { turnId, atMs, launchId, origin, goal, messageId } = turn;
  const birth = { launchId, origin, goal, messageId };
  return enterTurn(page, context, { turnId, phase: "running", occurredAtMs: atMs, birth });
}

function advance(
  page: BookPage,
  context: BookContext,
  {
    live,
    phase,
    atMs,
  }: { readonly live: LiveTurn | undefined; readonly phase: "running" | "waiting"; readonly atMs: number },
): BookPage {
  if (live === undefined) return page;
  return enterTurn(page, context, { turnId: live.turnId, phase, occurredAtMs: atMs, birth: live });
}

interface Ending {
  readonly outcome: TurnOutcome;
  readonly error?: TurnError;
  readonly atMs: number;
}

/** Ends the turn that its agent worked on. One that is only submitted is not what an agent tells the end of. */
function settle(page: BookPage, context: BookContext, ending: Ending): BookPage {
  const { live } = page.book;
  return live === undefined || live.state.kind === "submitted"
    ? page
    : end(page, context, { live, ...ending });
}

function end(
  page: BookPage,
  context: BookContext,
  { live, atMs, ...ending }: Ending & { readonly live: LiveTurn },
): BookPage {
  const { turnId } = live;
  return enterTurn(page, context, { turnId, phase: "settled", occurredAtMs: atMs, birth: live, ...ending });
}

function interruption({ book: { live } }: BookPage, context: BookContext): TurnOutcome {
  return live !== undefined && context.isCancelling(live.turnId) ? "canceled" : "interrupted";
}

/** Makes room for the next turn: the agent went on to it, and nobody heard how the last one ended. */
export function supersede(page: BookPage, context: BookContext, atMs: number): BookPage {
  const { live } = page.book;
  if (live === undefined) return page;
  const isTakenUp = live.state.kind !== "submitted" || messageOf(page, live) === undefined;
  const ending: Omit<Ending, "atMs"> = isTakenUp
    ? { outcome: "interrupted", error: END_NOT_SEEN }
    : { outcome: "failed", error: NOT_TAKEN_UP };
  return end(page, context, { live, atMs, ...ending });
}

function messageOf({ book }: BookPage, { messageId }: LiveTurn): SentMessage | undefined {
  return book.sent.find(({ id }) => id === messageId);
}

/** Which launches have no agent any more. */
export interface Departure {
  readonly nowMs: number;
  readonly isGone: (launchId: LaunchId) => boolean;
}

/**
 * The page after agents were proven gone: their turn is interrupted, unless a cancellation of it has to find that
 * out, and what was on its way to them stays unconfirmed.
 */
export function endTurns(page: BookPage, context: BookContext, { nowMs, isGone }: Departure): BookPage {
  const { live } = page.book;
  const isOver = live !== undefined && isGone(live.launchId) && !context.isCancelling(live.turnId);
  const atMs = Math.max(nowMs, live?.updatedAtMs ?? nowMs);
  const ended = isOver ? end(page, context, { live, outcome: "interrupted", atMs }) : page;
  return ended.book.sent
    .filter(({ state }) => isGone(state.delivery.launchId))
    .reduce((sofar, message) => enterMessage(sofar, message, leaveUnconfirmed(message, nowMs)), ended);
}
