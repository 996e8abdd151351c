import { parseLaunchId, parseSessionId } from "../../domain/ids.ts";
import type { ProcessIdentity } from "../../domain/session.ts";
import type { MarkedRuntime } from "../../ports/runtime.ts";
import { askServer, type TmuxDeps } from "./ask-server.ts";
import type { PaneRow } from "./pane-list.ts";
import { unavailable } from "./unavailable.ts";

/** Every tmux session with the marks of `ao`, as `Runtime.marked` says. */
export async function findMarked(deps: TmuxDeps, socketPath: string): Promise<readonly MarkedRuntime[]> {
  const answer = await askServer(deps.run, socketPath);
  if (answer.kind === "no_server") return [];
  if (answer.kind === "failed") throw unavailable(answer.cause);
  const panes = agentPanes(answer.panes);
  if (panes.length === 0) return [];
  const server = await deps.processes.identify(answer.serverPid);
  if (server === undefined) return [];
  const found = await Promise.all(panes.map((pane) => markedRuntime(deps, pane, { socketPath, server })));
  return found.filter((runtime) => runtime !== undefined);
}

/** The agent's own pane of each session: the first one; a person may have split its window. Pure. */
export function agentPanes(panes: readonly PaneRow[]): readonly PaneRow[] {
  const first = new Map<string, PaneRow>();
  for (const pane of panes) {
    const known = first.get(pane.sessionId);
    if (known === undefined || paneNumber(pane) < paneNumber(known)) first.set(pane.sessionId, pane);
  }
  return [...first.values()].filter(({ launchId }) => launchId !== "");
}

const paneNumber = ({ paneId }: PaneRow): number => Number(paneId.slice(1));

interface Server {
  readonly socketPath: string;
  readonly server: ProcessIdentity;
}

async function markedRuntime(
  deps: TmuxDeps,
  pane: PaneRow,
  { socketPath, server }: Server,
): Promise<MarkedRuntime | undefined> {
  const sessionId = parseSessionId(pane.aoSessionId);
  const launchId = parseLaunchId(pane.launchId);
  if (sessionId === undefined || launchId === undefined) return undefined;
  const process = pane.dead ? null : ((await deps.processes.identify(pane.panePid)) ?? null);
  const handle = { name: "tmux", id: pane.sessionId, paneId: pane.paneId, socketPath, server };
  return { sessionId, launchId, handle, process, createdAtMs: pane.createdAtMs };
}
