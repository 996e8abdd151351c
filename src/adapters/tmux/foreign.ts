import { realpath } from "node:fs/promises";
import { dirname, sep } from "node:path";
import type { RuntimeTarget } from "../../ports/runtime.ts";
import { sessionPathsArgs } from "./args.ts";
import type { TmuxDeps } from "./ask-server.ts";
import type { PaneRow } from "./pane-list.ts";

export interface OwnedDeps extends TmuxDeps {
  /** The mark of this data directory on its sessions. */
  readonly owner: string;
  /** Absolute; lies in the data directory. */
  readonly stateDir: string;
}

/** Where sessions of one server were begun, by their ids; `null` when it did not tell. */
type BegunIn = ReadonlyMap<string, string> | null;

/**
 * Says of sessions that were found why they are not for this data directory to read or to change: another one made
 * them and still has them, as when this one is a copy of that, or this cannot be told. `null` when it is this one's;
 * of a session whose place is gone the data directory was moved here. Costs one call to a server that has sessions
 * with another mark, else none. Changes nothing, never rejects.
 */
export function foreignness({ run, owner, stateDir }: OwnedDeps) {
  const asked = new Map<string, Promise<BegunIn>>();
  const ask = (socketPath: string): Promise<BegunIn> => {
    const begun = asked.get(socketPath) ?? run(socketPath, sessionPathsArgs()).then(begunIn);
    asked.set(socketPath, begun);
    return begun;
  };
  return async (
    { sessionId, handle }: Pick<RuntimeTarget, "sessionId" | "handle">,
    pane: PaneRow,
  ): Promise<string | null> => {
    if (pane.owner === owner || pane.owner === "") return null;
    const folder = (await ask(handle.socketPath))?.get(pane.sessionId);
    if (folder === undefined) return `nobody tells whose tmux session ${pane.sessionId} is`;
    const place = await realpath(folder).catch(() => undefined);
    if (place === undefined || place.startsWith(dirname(stateDir) + sep)) return null;
    const whose = `the agent of ${sessionId} works in ${folder}, for the data directory of which this one is a copy`;
    return `${whose}; name that one with AO_DATA_DIR`;
  };
}

/** A line that begins with no id goes on with the path of the line before. Pure. */
function begunIn(answer: Awaited<ReturnType<TmuxDeps["run"]>>): BegunIn {
  if (answer.kind !== "ok") return null;
  const entries = answer.stdout.replace(/\n$/, "").split(/\n(?=\$\d+ )/);
  return new Map(
    entries.map((entry): [string, string] => {
      const cut = entry.indexOf(" ");
      return [entry.slice(0, cut), entry.slice(cut + 1)];
    }),
  );
}
