import { setTimeout as sleep } from "node:timers/promises";
import { assertNever } from "../../domain/assert-never.ts";
import { parseLaunchId, parseSessionId } from "../../domain/ids.ts";
import type { ProcessIdentity } from "../../domain/session.ts";
import type { MarkedRuntime, RuntimeMark } from "../../ports/runtime.ts";
import { askServer, type ServerAnswer } from "./ask-server.ts";
import type { PaneRow } from "./pane-list.ts";
import { deafCause, ENDING_MS, type RecordedServerDeps } from "./reopen.ts";
import { unavailable } from "./unavailable.ts";

export interface FindDeps extends RecordedServerDeps {
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
      const panes = onePaneEach(answer.panes, deps.owner);
      const server = panes.length === 0 ? undefined : await deps.processes.identify(answer.serverPid);
      if (server === undefined) return [];
      const found = await Promise.all(panes.map((pane) => markedRuntime(deps, pane, server)));
      return found.filter((runtime) => runtime !== undefined);
    }
    default:
      return assertNever(answer);
  }
}

/**
 * The marks that an answer of the server of this data directory lists; `null` without one, and when another server
 * than the one that runs may have answered. Never rejects.
 */
export async function marksIn(
  { servers, owner }: FindDeps,
  answer: ServerAnswer | undefined,
): Promise<readonly RuntimeMark[] | null> {
  if (answer?.kind !== "panes") return null;
  const recorded = await servers.read().catch(() => undefined);
  if (recorded === undefined || !isAnswerOf(recorded, answer)) return null;
  return onePaneEach(answer.panes, owner).flatMap((pane) => markOf(pane) ?? []);
}

function markOf({ aoSessionId, launchId: launch }: PaneRow): RuntimeMark | undefined {
  const sessionId = parseSessionId(aoSessionId);
  const launchId = parseLaunchId(launch);
  return sessionId === undefined || launchId === undefined ? undefined : { sessionId, launchId };
}

/**
 * What the server says, `no_server` only when that is certain. A recorded server that lives while another one,
 * or none, answers may have sessions that nobody sees. Changes nothing.
 *
 * @throws AoError runtime_unavailable when it cannot be told which server was recorded.
 */
export async function askForCertain(deps: RecordedServerDeps): Promise<ServerAnswer> {
  const answer = await askServer(deps.run, deps.socketPath);
  if (answer.kind === "failed") return answer;
  const recorded = await deps.servers.read();
  if (recorded === undefined || isAnswerOf(recorded, answer)) return answer;
  if (await hasEnded(deps, recorded)) return answer;
  await sleep(ENDING_MS);
  const again = await askServer(deps.run, deps.socketPath);
  const isTold = again.kind === "failed" || isAnswerOf(recorded, again) || (await hasEnded(deps, recorded));
  return isTold ? again : { kind: "failed", isDeaf: true, cause: deafCause(recorded, deps.socketPath) };
}

function isAnswerOf({ pid }: ProcessIdentity, answer: ServerAnswer): boolean {
  return answer.kind === "panes" && answer.serverPid === pid;
}

/** Whether a server is dead, for sure. */
export async function hasEnded({ processes }: RecordedServerDeps, server: ProcessIdentity): Promise<boolean> {
  const [fact] = await processes.look([server]);
  return fact?.kind === "dead";
}

/** One pane of each session of ours: the agent's own, or any of a person's when that is closed. Pure. */
function onePaneEach(panes: readonly PaneRow[], owner: string): readonly PaneRow[] {
  const chosen = new Map<string, PaneRow>();
  for (const pane of panes.filter((one) => one.owner === owner)) {
    if (pane.isAgents || !chosen.has(pane.sessionId)) chosen.set(pane.sessionId, pane);
  }
  return [...chosen.values()];
}

async function markedRuntime(
  { processes, socketPath }: FindDeps,
  pane: PaneRow,
  server: ProcessIdentity,
): Promise<MarkedRuntime | undefined> {
  const mark = markOf(pane);
  if (mark === undefined) return undefined;
  const isRunning = pane.isAgents && !pane.dead;
  const process = isRunning ? ((await processes.identify(pane.panePid)) ?? null) : null;
  const handle = { name: "tmux", id: pane.sessionId, paneId: pane.paneId, socketPath, server };
  return { ...mark, handle, process, createdAtMs: pane.createdAtMs };
}
