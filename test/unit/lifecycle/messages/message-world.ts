import type { MessageId } from "../../../../src/domain/ids.ts";
import type { Message } from "../../../../src/domain/message.ts";
import type { Turn } from "../../../../src/domain/turn.ts";
import { acceptMessage } from "../../../../src/lifecycle/messages/accept-message.ts";
import { sessionId } from "../../../support/builders.ts";
import { aWorld, type World, type WorldOptions } from "../../../support/world.ts";

export const ID = sessionId("app-1");

/** A world with session `app-1`, never prompted, whose agent rests. */
export async function aRestingWorld(options: WorldOptions = {}): Promise<World> {
  const world = aWorld(options);
  await world.spawn({ prompt: null });
  world.clock.advance(1_000);
  await world.hear(ID, "ready");
  return world;
}

/** Queues a message for the session. */
export function queued({ deps }: World, text = "hello", requestId: string | null = null): Promise<Message> {
  return acceptMessage(deps, ID, { text, requestId });
}

/** The message as it stands. */
export function stored({ deps }: World, { id }: { readonly id: MessageId }): Message {
  const message = deps.messages.get(id);
  if (message === undefined) throw new Error(`message ${id} is not there`);
  return message;
}

/** The texts that reached the agent, in order. */
export function typed({ messenger }: World): readonly string[] {
  return messenger.sent.map(({ text }) => text);
}

/** The session's turns, oldest first. */
export function turnsOf({ deps }: World): readonly Turn[] {
  return deps.turns.ofSession(ID, 100).turns.toReversed();
}

/** Each turn as its phase or outcome. */
export function story(world: World): readonly string[] {
  return turnsOf(world).map(({ state }) => (state.kind === "settled" ? state.outcome : state.kind));
}

/** The agent ends each of its turns at once, from now on. */
export function answersEverything(world: World): void {
  const { inbox } = world.deps;
  const answered = new Set<string>();
  const pending = inbox.pending.bind(inbox);
  Object.assign(inbox, {
    async pending() {
      const submits = (await pending()).filter(({ id, event }) => event === "submit" && !answered.has(id));
      for (const { id, atMs } of submits) {
        answered.add(id);
        await world.hear(ID, "stop", { atMs });
      }
      return pending();
    },
  });
}
