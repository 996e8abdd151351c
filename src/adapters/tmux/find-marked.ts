import { assertNever } from "../../domain/assert-never.ts";
import { parseLaunchId, parseSessionId } from "../../domain/ids.ts";
import type { ProcessIdentity } from "../../domain/session.ts";
import type { MarkedRuntime } from "../../ports/runtime.ts";
import { askServer, type ServerAnswer, type TmuxDeps } from "./ask-server.ts";
import type { PaneRow } from "./pane-list.ts";
import { revive } from "./revive.ts";
import type { ServerRecord } from "./server-record.ts";
import { unavailable } from "./unavailable.ts";

export interface FindDeps extends TmuxDeps {
  readonly socketPath: string;
  readonly servers: ServerRecord;
  /** Only sessions with this mark are ours. */
  readonly owner: string;
}

/** Every tmux session with the marks of this data directory, as `Runtime.marked` says. */
export async function findMarked(deps: FindDeps): Promise<readonly MarkedRuntime[]> {
  const answer = await askForCertain(deps);
  switch (answer.kind) {
    case "no_server":
      return [];
    case "failed":
      throw unavailable(answer.cause);
    case "panes": {
      const panes = agentPanes(answer.panes, deps.owner);
      const server = panes.length === 0 ? undefined : await deps.processes.identify(answer.serverPid);
      if (server === undefined) return [];
      const found = await Promise.all(panes.map((pane) => markedRuntime(deps, pane, server)));
      return found.filter((runtime) => runtime !== undefined);
    }
    default:
      return assertNever(answer);
  }
}

/** A recorded server that lives while another one, or none, answers may have sessions that nobody sees. */
async function askForCertain(deps: FindDeps): Promise<ServerAnswer> {
  const { socketPath, processes } = deps;
  const answer = await askServer(deps.run, socketPath);
  if (answer.kind === "failed") return answer;
  const recorded = await deps.servers.read();
  if (recorded === undefined || (answer.kind === "panes" && answer.serverPid === recorded.pid)) return answer;
  const again = answer.kind === "no_server" ? await revive(deps, socketPath, recorded) : answer;
  if (again.kind === "panes" && again.serverPid === recorded.pid) return again;
  const [fact] = await processes.look([recorded]);
  if (fact?.kind === "dead" || again.kind === "failed") return again;
  const cause = `tmux server ${recorded.pid} runs, but does not answer on ${socketPath}`;
  return { kind: "failed", cause };
}

/** The agent's own pane of each session of ours: the first one; a person may have split its window. Pure. */
export function agentPanes(panes: readonly PaneRow[], owner: string): readonly PaneRow[] {
  const first = new Map<string, PaneRow>();
  for (const pane of panes) {
    const known = first.get(pane.sessionId);
    if (known === undefined || paneNumber(pane) < paneNumber(known)) first.set(pane.sessionId, pane);
  }
  return [...first.values()].filter((pane) => pane.owner === owner);
}

const paneNumber = ({ paneId }: PaneRow): number => Number(paneId.slice(1));

async function markedRuntime(
  { processes, socketPath }: FindDeps,
  pane: PaneRow,
  server: ProcessIdentity,
): Promise<MarkedRuntime | undefined> {
  const sessionId = parseSessionId(pane.aoSessionId);
  const launchId = parseLaunchId(pane.launchId);
  if (sessionId === undefined || launchId === undefined) return undefined;
  const process = pane.dead ? null : ((await processes.identify(pane.panePid)) ?? null);
  const handle = { name: "tmux", id: pane.sessionId, paneId: pane.paneId, socketPath, server };
  return { sessionId, launchId, handle, process, createdAtMs: pane.createdAtMs };
}
