import { expect } from "vitest";
import { memoryMessenger } from "../../src/adapters/memory/messenger.ts";
import { systemProcessTable } from "../../src/adapters/processes/system-process-table.ts";
import { tmuxMessenger } from "../../src/adapters/tmux/tmux-messenger.ts";
import type { MessageTarget } from "../../src/ports/messenger.ts";
import { aProcess, aRuntimeHandle } from "../support/builders.ts";
import { rawAgent, type StubAgent } from "../support/stub-agents.ts";
import { tempDir } from "../support/temp-dir.ts";
import { tmuxRuntime } from "../support/tmux-runtime.ts";
import { aRuntimeSpec, tmuxServer } from "../support/tmux-server.ts";
import { type Listener, type MessengerWorld, messengerContract } from "./messenger.contract.ts";

const ESCAPE = 0x1b;

function memoryWorld(): MessengerWorld {
  const messenger = memoryMessenger();
  return {
    messenger,
    async agent(listener, { bracketedPaste = false } = {}) {
      const { sessionId, launchId } = aRuntimeSpec();
      if (listener !== "listens") messenger.setListener(sessionId, listener);
      return { sessionId, launchId, handle: aRuntimeHandle(), process: aProcess(), bracketedPaste };
    },
    heard: ({ sessionId }) =>
      messenger.sent.filter(({ target }) => target.sessionId === sessionId).map(({ text }) => text),
    escapes: ({ sessionId }) =>
      messenger.pressed
        .filter(({ target }) => target.sessionId === sessionId)
        .flatMap(({ keys }) => keys.filter((key) => key === "Escape")).length,
  };
}

function submissions(agent: StubAgent | undefined): readonly string[] {
  const received = agent?.received().toString() ?? "";
  if (agent?.bracketedPaste !== true) return received.split("\r").slice(0, -1);
  const pastes = received.split("\x1b[201~\r").slice(0, -1);
  return pastes.map((paste) => paste.replace("\x1b[200~", ""));
}

function tmuxWorld(): MessengerWorld {
  const server = tmuxServer();
  const processes = systemProcessTable();
  const stateDir = tempDir("ao-state");
  const runtime = tmuxRuntime({ socketPath: server.socketPath, stateDir, processes });
  const stubs = new Map<string, StubAgent>();
  const heard = ({ sessionId }: { readonly sessionId: string }) => submissions(stubs.get(sessionId));
  const act: Record<Listener, (target: MessageTarget) => Promise<void>> = {
    listens: async () => undefined,
    refuses: async ({ handle }) => void server.tmux("select-pane", "-d", "-t", handle.paneId),
    gone: (target) => runtime.destroy(target),
  };
  return {
    messenger: tmuxMessenger({ processes, stateDir }),
    async agent(listener, { bracketedPaste = false } = {}) {
      const stub = rawAgent({ bracketed: bracketedPaste });
      const spec = aRuntimeSpec({ argv: stub.argv });
      const target = { ...spec, ...(await runtime.create(spec)), bracketedPaste };
      stubs.set(spec.sessionId, stub);
      await expect.poll(() => stub.isReady(), { timeout: 20_000 }).toBe(true);
      await act[listener](target);
      return target;
    },
    heard,
    escapes: ({ sessionId }) =>
      (stubs.get(sessionId)?.received() ?? []).filter((byte) => byte === ESCAPE).length,
  };
}

messengerContract("memory", memoryWorld);
messengerContract("tmux", tmuxWorld);
