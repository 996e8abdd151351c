import { parseSessionId, type SessionId } from "./ids.ts";

/**
 * The prefix of the numbers of worktrees that are made ahead. They are counted as those of sessions are, so that no
 * session of a project with this prefix can have the name of one.
 */
export const SPARE_PREFIX = "ao-pool";

const NAME = new RegExp(`^${SPARE_PREFIX}-[1-9][0-9]*$`);

/** The name of the worktree made ahead of that number. @throws Error when there can be none. */
export function spareName(number: number): SessionId {
  const name = parseSessionId(`${SPARE_PREFIX}-${number}`);
  if (name === undefined) throw new Error(`${number} is no number of a worktree`);
  return name;
}

/** Whether a folder may be a worktree made ahead; its mark says whether it is. */
export function isSpareName(name: string): boolean {
  return NAME.test(name);
}
