import { statSync } from "node:fs";
import { dirname } from "node:path";
import { isTerminal } from "../../domain/lifecycle.ts";
import type { Store } from "../../ports/store.ts";

type Stores = Pick<Store, "sessions" | "operations">;

/**
 * Where the runtime of a data directory listens: `chosen` the first time, and from then on what was
 * remembered, whatever the caller's environment says. A place that is gone for good, as a temporary folder
 * of one login is, is given up for `chosen` once nothing can be running there.
 */
export function rememberedSocket(stores: Stores, chosen: string): string {
  for (let turn = 1; ; turn++) {
    const key = turn === 1 ? "tmux.socket" : `tmux.socket.${turn}`;
    const path = stores.sessions.rememberOnce(key, chosen);
    if (path === chosen || hasPlace(path) || mayBeUsed(stores, path)) return path;
  }
}

/** The socket's own folder is made when needed; the one around it is the system's. */
function hasPlace(socketPath: string): boolean {
  try {
    return statSync(dirname(dirname(socketPath))).isDirectory();
  } catch {
    return false;
  }
}

/** An operation that is under way may have started an agent of which no session tells, nor one that is unreadable. */
function mayBeUsed({ sessions, operations }: Stores, socketPath: string): boolean {
  const { operations: known, unreadable } = operations.unfinished();
  const { sessions: rows, unreadable: unknown } = sessions.rows();
  if (known.length + unreadable.length + unknown.length > 0) return true;
  return rows.some(
    ({ lifecycle, metadata }) =>
      !isTerminal(lifecycle) && (metadata.runtime?.socketPath ?? socketPath) === socketPath,
  );
}
