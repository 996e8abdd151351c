import { memoryLocks } from "../../src/adapters/memory/locks.ts";
import { tmuxRuntime as realRuntime, type TmuxRuntimeOptions } from "../../src/adapters/tmux/tmux-runtime.ts";
import type { Runtime } from "../../src/ports/runtime.ts";

const locks = memoryLocks();

/** A tmux runtime whose locks are those of this process: no other process uses the socket of a test. */
export function tmuxRuntime(options: Omit<TmuxRuntimeOptions, "locks">): Runtime {
  return realRuntime({ ...options, locks });
}
