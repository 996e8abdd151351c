import { MAX_HOOK_BODY_BYTES } from "../src/domain/hook-event.ts";
import type { Inbox } from "../src/ports/inbox.ts";
import type { Io } from "./io.ts";

export interface HookOptions {
  /** What follows `ao hooks`: the agent and its event. */
  readonly args: readonly string[];
  readonly io: Pick<Io, "env" | "stdin">;
  readonly openInbox: () => Inbox | undefined;
}

/** The rest of a body that the inbox would not take is read and dropped, so that its writer ends. */
async function readBody({ stdin }: Pick<Io, "stdin">): Promise<string> {
  if (stdin.isTTY) return "";
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stdin) {
    const buffer = Buffer.from(chunk);
    bytes += buffer.length;
    if (bytes <= MAX_HOOK_BODY_BYTES) chunks.push(buffer);
  }
  return bytes <= MAX_HOOK_BODY_BYTES ? Buffer.concat(chunks).toString("utf8") : "";
}

/**
 * `ao hooks <agent> <event>`: what the hook script does, for agents whose hooks must be a command. Leaves the
 * event with the body that stdin brings, an empty one when that is too large. Prints nothing and never
 * rejects: a hook must not disturb its agent. Outside of a session it does nothing.
 */
export async function leaveHookEvent({ args, io, openInbox }: HookOptions): Promise<void> {
  const [agent, event] = args;
  const { AO_SESSION_ID: sessionId, AO_LAUNCH_ID: launchId, AO_DATA_DIR: dataDir } = io.env;
  if (!(agent && event && sessionId && launchId && dataDir)) return;
  try {
    const body = await readBody(io);
    await openInbox()?.put({ sessionId, launchId, agent, event, atMs: Date.now(), body });
  } catch {
    // Nobody is there to be told.
  }
}
