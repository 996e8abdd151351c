import { setTimeout as sleep } from "node:timers/promises";
import { AoError } from "../../domain/errors.ts";
import type { LaunchId } from "../../domain/ids.ts";
import type { ProcessIdentity } from "../../domain/session.ts";
import type { RuntimeTarget } from "../../ports/runtime.ts";
import { killSessionArgs } from "./args.ts";
import { askServer, type TmuxDeps } from "./ask-server.ts";
import { endProcesses } from "./end-processes.ts";
import { locate } from "./locate.ts";
import type { PaneRow } from "./pane-list.ts";
import { unavailable } from "./unavailable.ts";

const GONE_WITHIN_MS = 1000;
const POLL_MS = 10;

/** Ends a runtime as `Runtime.destroy` says. */
export async function destroyRuntime(deps: TmuxDeps, target: RuntimeTarget): Promise<void> {
  const { location } = await locate(deps, target);
  if (location.kind === "unknown") throw unavailable(location.cause);
  const left = await tearDown(deps, {
    socketPath: target.handle.socketPath,
    launchId: target.launchId,
    agent: target.process,
    pane: location.kind === "found" ? location.pane : null,
  });
  if (left.length === 0) return;
  throw new AoError("teardown_incomplete", `${target.sessionId} has not ended: ${left.join(", ")} left`, {
    details: { left },
  });
}

export interface Doomed {
  readonly socketPath: string;
  readonly launchId: LaunchId;
  /** `null` when it is not known; the pane tells it then. */
  readonly agent: ProcessIdentity | null;
  /** `null` when there is none any more. */
  readonly pane: PaneRow | null;
}

/**
 * Ends all processes of a launch and then its tmux session. Returns what is left, in words; normally
 * nothing.
 *
 * @throws AoError runtime_unavailable when the system would not tell of processes; nothing was signalled.
 */
export async function tearDown(deps: TmuxDeps, doomed: Doomed): Promise<readonly string[]> {
  const { socketPath, launchId, pane } = doomed;
  const root = doomed.agent ?? (await agentOf(deps, pane));
  const survivors = await endProcesses(deps.processes, { root, launchId });
  const left = survivors.map(({ pid }) => `process ${pid}`);
  if (pane === null || (await endSession(deps, socketPath, pane))) return left;
  return [...left, `tmux session ${pane.sessionId} on ${socketPath}`];
}

async function agentOf(deps: TmuxDeps, pane: PaneRow | null): Promise<ProcessIdentity | null> {
  return pane === null || pane.dead ? null : ((await deps.processes.identify(pane.panePid)) ?? null);
}

/** Ends the session of a pane, unless its ids belong to another one by now. Returns whether it is gone. */
async function endSession(deps: TmuxDeps, socketPath: string, pane: PaneRow): Promise<boolean> {
  await deps.run(socketPath, killSessionArgs(pane));
  const untilMs = performance.now() + GONE_WITHIN_MS;
  while (!(await isGone(deps, socketPath, pane))) {
    if (performance.now() >= untilMs) return false;
    await sleep(POLL_MS);
  }
  return true;
}

async function isGone(deps: TmuxDeps, socketPath: string, pane: PaneRow): Promise<boolean> {
  const answer = await askServer(deps.run, socketPath);
  if (answer.kind !== "panes") return answer.kind === "no_server";
  return !answer.panes.some(
    ({ paneId, launchId, serverPid }) =>
      paneId === pane.paneId && launchId === pane.launchId && serverPid === pane.serverPid,
  );
}
