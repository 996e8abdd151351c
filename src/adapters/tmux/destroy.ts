import { setTimeout as sleep } from "node:timers/promises";
import { assertNever } from "../../domain/assert-never.ts";
import { AoError } from "../../domain/errors.ts";
import type { LaunchId } from "../../domain/ids.ts";
import type { ProcessIdentity } from "../../domain/session.ts";
import type { RuntimeTarget } from "../../ports/runtime.ts";
import { killSessionArgs } from "./args.ts";
import { askServer, type ServerAnswer, type TmuxDeps } from "./ask-server.ts";
import { endProcesses } from "./end-processes.ts";
import { describeLeft, type Leftover } from "./leftover.ts";
import { locateReopened } from "./locate.ts";
import type { PaneRow } from "./pane-list.ts";
import { unavailable } from "./unavailable.ts";

const GONE_WITHIN_MS = 1000;
const POLL_MS = 10;

/** Ends a runtime as `Runtime.destroy` says: all of its tmux session, also when only a person's panes are left. */
export async function destroyRuntime(deps: TmuxDeps, target: RuntimeTarget): Promise<void> {
  const { location } = await locateReopened(deps, target);
  if (location.kind === "unknown") throw unavailable(location.cause);
  const left = await tearDown(deps, {
    socketPath: target.handle.socketPath,
    launchId: target.launchId,
    agent: target.process,
    pane: location.kind === "gone" ? null : location.pane,
  });
  if (left.length === 0) return;
  const message = `${target.sessionId} has not ended: ${describeLeft(left)}`;
  throw new AoError("teardown_incomplete", message, { details: { left } });
}

export interface Doomed {
  readonly socketPath: string;
  readonly launchId: LaunchId;
  /** `null` when it is not known; the pane tells it then. */
  readonly agent: ProcessIdentity | null;
  /** One of its session, the agent's own if that is there; `null` when there is none any more. */
  readonly pane: PaneRow | null;
}

/**
 * Ends all processes of a launch and then its tmux session. Returns what is left or may be; normally
 * nothing.
 *
 * @throws AoError runtime_unavailable when the system would not tell of processes; nothing was signalled.
 */
export async function tearDown(deps: TmuxDeps, doomed: Doomed): Promise<readonly Leftover[]> {
  const { socketPath, launchId, pane } = doomed;
  const root = doomed.agent ?? (await agentOf(deps, pane));
  const survivors = await endProcesses(deps.processes, { root, launchId });
  const left = survivors.map(({ pid }) => ({ what: "process", where: `${pid}`, why: "it has not ended" }));
  const why = pane === null ? null : await endSession(deps, socketPath, pane);
  if (pane === null || why === null) return left;
  return [...left, { what: "tmux session", where: `${pane.sessionId} on ${socketPath}`, why }];
}

async function agentOf(deps: TmuxDeps, pane: PaneRow | null): Promise<ProcessIdentity | null> {
  return pane === null || pane.dead ? null : ((await deps.processes.identify(pane.panePid)) ?? null);
}

/**
 * Ends the session of a pane, unless its ids belong to another one by now. Returns why it may still be there,
 * `null` when it is gone.
 */
async function endSession(deps: TmuxDeps, socketPath: string, pane: PaneRow): Promise<string | null> {
  await deps.run(socketPath, killSessionArgs(pane));
  const untilMs = performance.now() + GONE_WITHIN_MS;
  for (;;) {
    const why = whyNotGone(await askServer(deps.run, socketPath), pane);
    if (why === null || performance.now() >= untilMs) return why;
    await sleep(POLL_MS);
  }
}

function whyNotGone(answer: ServerAnswer, pane: PaneRow): string | null {
  switch (answer.kind) {
    case "no_server":
      return null;
    case "failed":
      return `could not look: ${answer.cause}`;
    case "panes":
      return answer.panes.some((row) => isSameSession(row, pane)) ? "it has not gone" : null;
    default:
      return assertNever(answer);
  }
}

function isSameSession(one: PaneRow, other: PaneRow): boolean {
  return (
    one.sessionId === other.sessionId && one.launchId === other.launchId && one.serverPid === other.serverPid
  );
}
