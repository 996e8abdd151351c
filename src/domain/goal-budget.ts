/** An order that nothing is heard of must not be tried for ever: so many tries, or so long, whatever comes first. */
const MAX_TRIES = 24;
const MAX_AGE_MS = 10 * 60_000;
/** How long the agent has to follow an order that it took. */
const MAX_ACCEPTED_MS = 2 * 60_000;

/** A moment in the life of an operation. */
export interface GoalMilestone {
  readonly atMs: number;
  readonly attempt: number;
}

/** How far an order has come: what was told first counts, however often it is told again. */
export interface GoalDelivery {
  /** When the agent may first have been reached; `null` while it certainly was not. */
  readonly dispatched: GoalMilestone | null;
  /** When it first said that it took the order. */
  readonly accepted: GoalMilestone | null;
}

/**
 * Why an order is given up, in one clause; `null` when it is not. Before it may have reached the agent there is no
 * limit: an agent that is out of reach costs nothing. Pure and total.
 */
export function whyGiveUp(
  { dispatched, accepted }: GoalDelivery,
  { attempt, atMs }: GoalMilestone,
): string | null {
  if (accepted !== null && isOver(accepted, { attempt, atMs }, MAX_ACCEPTED_MS)) {
    return "the agent took it and never told that it follows it";
  }
  if (dispatched !== null && isOver(dispatched, { attempt, atMs }, MAX_AGE_MS)) {
    return "the agent may have been told and was not heard of since";
  }
  return null;
}

function isOver(since: GoalMilestone, { attempt, atMs }: GoalMilestone, maxAgeMs: number): boolean {
  return attempt - since.attempt >= MAX_TRIES || atMs - since.atMs >= maxAgeMs;
}
