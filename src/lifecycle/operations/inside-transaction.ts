import type { SessionStore } from "../../ports/session-store.ts";

/** The store as seen inside a transaction of it: a further one joins, instead of being refused. */
export function insideTransaction(store: SessionStore): SessionStore {
  return { ...store, transaction: (work) => work() };
}
