import type { ProcessIdentity } from "./session.ts";

/** Whether both name one process: a pid alone is given to others again. */
export function isSameProcess(one: ProcessIdentity, other: ProcessIdentity): boolean {
  return one.pid === other.pid && one.startTime === other.startTime && one.bootId === other.bootId;
}
