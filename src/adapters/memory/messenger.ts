import { AoError } from "../../domain/errors.ts";
import type { SessionId } from "../../domain/ids.ts";
import { refuseKeys } from "../../domain/message-keys.ts";
import type { MessageTarget, Messenger } from "../../ports/messenger.ts";
import type { RuntimeTarget } from "../../ports/runtime.ts";

/**
 * How an agent takes messages: `answers` hears them; `deaf` has them in its terminal and does nothing; `refuses`
 * takes no input; `in_use` is looked through by a person; `gone` does not run.
 */
export type MemoryListener = "answers" | "deaf" | "refuses" | "in_use" | "gone";

/** The messenger port without a terminal, with the levers a test pulls. */
export interface MemoryMessenger extends Messenger {
  /** One entry a call, in order: `messenger.send <session>`. Shared when the caller passed one. */
  readonly log: string[];
  /** What reached an agent, in order. */
  readonly sent: readonly { readonly target: MessageTarget; readonly text: string }[];
  /** Keys that reached an agent, in order. */
  readonly pressed: readonly { readonly target: RuntimeTarget; readonly keys: readonly string[] }[];
  /** How a session's agent takes messages from now on; `answers` until told otherwise. */
  setListener(sessionId: SessionId, listener: MemoryListener): void;
  /** The next call is logged, reaches nobody and throws `error`. */
  failNext(error: Error): void;
}

export interface MemoryMessengerOptions {
  readonly log?: string[];
  /** What an agent that `answers` does with a text; for example, it tells of it through a hook. */
  readonly onHeard?: (target: MessageTarget, text: string) => Promise<void>;
  /** The same for keys. */
  readonly onPressed?: (target: RuntimeTarget, keys: readonly string[]) => Promise<void>;
}

/** An in-memory twin of the tmux messenger; passes the same contract. */
export function memoryMessenger(options: MemoryMessengerOptions = {}): MemoryMessenger {
  const log = options.log ?? [];
  const sent: { readonly target: MessageTarget; readonly text: string }[] = [];
  const pressed: { readonly target: RuntimeTarget; readonly keys: readonly string[] }[] = [];
  const listeners = new Map<SessionId, MemoryListener>();
  const failures: Error[] = [];
  return {
    log,
    sent,
    pressed,
    setListener: (sessionId, listener) => void listeners.set(sessionId, listener),
    failNext: (error) => void failures.push(error),
    isInUse: async ({ sessionId }) => listeners.get(sessionId) === "in_use",
    async send(target, text) {
      log.push(`messenger.send ${target.sessionId}`);
      const failure = failures.shift();
      if (failure !== undefined) throw failure;
      const listener = listeners.get(target.sessionId) ?? "answers";
      refuse(target, listener);
      if (listener === "in_use") throw new AoError("runtime_unavailable", "its terminal is in use");
      if (!target.bracketedPaste) refuseKeys(target.sessionId, text);
      sent.push({ target, text });
      if (listener === "answers") await options.onHeard?.(target, text);
      return { kind: "typed" };
    },
    async press(target, keys) {
      log.push(`messenger.press ${target.sessionId} ${keys.join(" ")}`);
      const failure = failures.shift();
      if (failure !== undefined) throw failure;
      const listener = listeners.get(target.sessionId) ?? "answers";
      refuse(target, listener);
      pressed.push({ target, keys });
      if (listener === "answers") await options.onPressed?.(target, keys);
      return { kind: "typed" };
    },
  };
}

/** @throws AoError not_running, delivery_failed */
function refuse({ sessionId }: RuntimeTarget, listener: MemoryListener): void {
  if (listener === "gone") throw new AoError("not_running", `the agent of ${sessionId} is gone`);
  if (listener !== "refuses") return;
  throw new AoError("delivery_failed", `the terminal of ${sessionId} takes no input`);
}
