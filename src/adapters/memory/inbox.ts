import type { HookEvent } from "../../domain/facts.ts";
import type { Inbox } from "../../ports/inbox.ts";

/** An inbox that lives as long as the object. */
export function memoryInbox(): Inbox {
  const events = new Map<string, HookEvent>();
  let puts = 0;
  return {
    // A stable sort keeps the order of arrival among events of the same time.
    pending: async () => [...events.values()].sort((one, other) => one.atMs - other.atMs),
    remove: async (ids) => {
      for (const id of ids) events.delete(id);
    },
    put: async (event) => {
      puts += 1;
      const id = `event-${puts}`;
      events.set(id, { ...event, id });
    },
  };
}
