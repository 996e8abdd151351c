import { AoError } from "../../domain/errors.ts";
import type { HookEvent } from "../../domain/facts.ts";
import { MAX_HOOK_BODY_BYTES } from "../../domain/hook-event.ts";
import { parseLaunchId, parseSessionId } from "../../domain/ids.ts";
import type { Inbox } from "../../ports/inbox.ts";

const NAME = /^[\x21-\x7e]{1,100}$/;

function isWellFormed(event: Omit<HookEvent, "id">): boolean {
  return (
    parseSessionId(event.sessionId) !== undefined &&
    parseLaunchId(event.launchId) !== undefined &&
    NAME.test(event.agent) &&
    NAME.test(event.event) &&
    Number.isSafeInteger(event.atMs) &&
    event.atMs >= 0 &&
    Buffer.byteLength(event.body) <= MAX_HOOK_BODY_BYTES
  );
}

/** An inbox that lives as long as the object, and holds nothing that is no event. */
export function memoryInbox(): Inbox {
  const events = new Map<string, HookEvent>();
  const aside = new Set<string>();
  let puts = 0;
  return {
    // A stable sort keeps the order of arrival among events of the same time.
    pending: async (launchId) =>
      [...events.values()]
        .filter((event) => launchId === undefined || event.launchId === launchId)
        .sort((one, other) => one.atMs - other.atMs),
    remove: async (ids) => {
      for (const id of ids) events.delete(id);
    },
    setAside: async (ids) => {
      for (const id of ids) if (events.delete(id)) aside.add(id);
    },
    tidy: async () => aside.size,
    countAside: async () => aside.size,
    put: async (event) => {
      if (!isWellFormed(event)) {
        throw new AoError("usage", `the hook event ${JSON.stringify(event.event)} is malformed or too large`);
      }
      puts += 1;
      const id = `event-${puts}`;
      events.set(id, { ...event, id });
    },
  };
}
