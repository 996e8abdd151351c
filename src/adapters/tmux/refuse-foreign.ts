import { realpath } from "node:fs/promises";
import { dirname, sep } from "node:path";
import type { RuntimeTarget } from "../../ports/runtime.ts";
import { sessionPathArgs } from "./args.ts";
import type { TmuxDeps } from "./ask-server.ts";
import type { PaneRow } from "./pane-list.ts";
import { unavailable } from "./unavailable.ts";

export interface OwnedDeps extends TmuxDeps {
  /** The mark of this data directory on its sessions. */
  readonly owner: string;
  /** Absolute; lies in the data directory. */
  readonly stateDir: string;
}

/**
 * Refuses a session that another data directory made and still has, as when this one is a copy of that. One whose
 * place is gone was moved here.
 *
 * @throws AoError runtime_unavailable when it is another's, or that cannot be told; nothing was changed.
 */
export async function refuseForeign(
  { run, owner, stateDir }: OwnedDeps,
  { sessionId, handle }: Pick<RuntimeTarget, "sessionId" | "handle">,
  pane: PaneRow,
): Promise<void> {
  if (pane.owner === owner || pane.owner === "") return;
  const answer = await run(handle.socketPath, sessionPathArgs(pane.paneId));
  if (answer.kind !== "ok") throw unavailable(`nobody tells whose session ${pane.sessionId} is`);
  const begunIn = answer.stdout.replace(/\n$/, "");
  const place = await realpath(begunIn).catch(() => undefined);
  if (place === undefined || place.startsWith(dirname(stateDir) + sep)) return;
  throw unavailable(
    `the agent of ${sessionId} works in ${begunIn}, for the data directory of which this one is a copy`,
    "name that one with AO_DATA_DIR",
  );
}
