import type { HookEvent } from "../../domain/facts.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Inbox } from "../../ports/inbox.ts";
import type { MessageTarget } from "../../ports/messenger.ts";

export interface ReceiptDeps {
  readonly inbox: Pick<Inbox, "pending">;
  readonly clock: Pick<Clock, "sleep">;
  /** The text that an event says was submitted, or `null` when it says nothing of the kind. */
  readonly submittedText: (event: HookEvent) => string | null;
}

const POLL_MS = 50;

/**
 * Begins to listen: events that wait already are of earlier messages.
 *
 * @throws AoError data_dir_unusable when the inbox cannot be read.
 */
export async function eventsSoFar({ inbox }: ReceiptDeps): Promise<ReadonlySet<string>> {
  return new Set((await inbox.pending()).map(({ id }) => id));
}

export interface Awaited {
  readonly target: MessageTarget;
  readonly text: string;
  readonly before: ReadonlySet<string>;
  readonly timeoutMs: number;
}

/**
 * Waits until the agent tells that it got this text, trailing white space apart. False when it did not
 * within `timeoutMs`, or when nobody can hear it; never rejects, for the text has been typed.
 */
export async function awaitReceipt(deps: ReceiptDeps, awaited: Awaited): Promise<boolean> {
  for (let waitedMs = 0; ; waitedMs += POLL_MS) {
    const events = await deps.inbox.pending().catch(() => []);
    if (events.some((event) => isReceipt(deps, event, awaited))) return true;
    if (waitedMs >= awaited.timeoutMs) return false;
    await deps.clock.sleep(POLL_MS);
  }
}

function isReceipt(deps: ReceiptDeps, event: HookEvent, { target, text, before }: Awaited): boolean {
  return (
    !before.has(event.id) &&
    event.sessionId === target.sessionId &&
    event.launchId === target.launchId &&
    deps.submittedText(event)?.trimEnd() === text.trimEnd()
  );
}
