import { setTimeout as sleep } from "node:timers/promises";
import { assertNever } from "../../domain/assert-never.ts";
import { AoError } from "../../domain/errors.ts";
import { isSameProcess } from "../../domain/same-process.ts";
import type { ProcessIdentity } from "../../domain/session.ts";
import type { ProcessTable } from "../../ports/process-table.ts";
import type { RuntimeTarget } from "../../ports/runtime.ts";
import { killSessionArgs } from "./args.ts";
import { askServer, type ServerAnswer, type TmuxDeps } from "./ask-server.ts";
import { endProcesses, type LaunchMarks, markersOf } from "./end-processes.ts";
import type { OwnedDeps } from "./foreign.ts";
import { describeLeft, type Leftover } from "./leftover.ts";
import { locateReopened } from "./locate.ts";
import type { PaneRow } from "./pane-list.ts";
import { deafCause } from "./reopen.ts";
import { unreachable } from "./unavailable.ts";

const GONE_WITHIN_MS = 1000;
const POLL_MS = 10;

/**
 * Ends a runtime as `Runtime.destroy` says: all of its tmux session, also when only a person's panes are left.
 *
 * @throws AoError runtime_unavailable also of one that is another data directory's; nothing was changed.
 */
export async function destroyRuntime(deps: OwnedDeps, target: RuntimeTarget): Promise<void> {
  const { location } = await locateReopened(deps, target);
  if (location.kind === "unknown") throw unreachable(location);
  const left = await tearDown(deps, {
    socketPath: target.handle.socketPath,
    sessionId: target.sessionId,
    launchId: target.launchId,
    agent: target.process,
    pane: location.kind === "gone" ? null : location.pane,
  });
  if (left.length === 0) return;
  const message = `${target.sessionId} has not ended: ${describeLeft(left)}`;
  throw new AoError("teardown_incomplete", message, { details: { left } });
}

export interface Doomed extends LaunchMarks {
  readonly socketPath: string;
  /** As it was recorded; `null` when it is not known. */
  readonly agent: ProcessIdentity | null;
  /** One of the session with both marks, the agent's own if that is there; `null` when there is none any more. */
  readonly pane: PaneRow | null;
}

/**
 * Ends all processes of a launch and then its tmux session. Returns what is left or may be; normally
 * nothing. A recorded agent that proves by nothing to be of this launch is left alone: what was recorded may
 * be old, or wrong.
 *
 * @throws AoError runtime_unavailable when the system would not tell of processes; nothing was signalled.
 */
export async function tearDown(deps: TmuxDeps, doomed: Doomed): Promise<readonly Leftover[]> {
  const { socketPath, sessionId, launchId, pane } = doomed;
  const { root, unproven } = await rootOf(deps, doomed);
  const survivors = await endProcesses(deps.processes, { root, sessionId, launchId });
  const strangers = await aliveOf(deps.processes, unproven);
  const left = [
    ...survivors.map(({ pid }) => processLeft(pid, "it has not ended")),
    ...strangers.map(({ pid }) =>
      processLeft(
        pid,
        `it is recorded as the agent and lacks the marks of ${sessionId}, so it was left alone`,
      ),
    ),
  ];
  const why = pane === null ? null : await endSession(deps, socketPath, pane);
  if (pane === null || why === null) return left;
  return [...left, { what: "tmux session", where: `${pane.sessionId} on ${socketPath}`, why }];
}

function processLeft(pid: number, why: string): Leftover {
  return { what: "process", where: `${pid}`, why };
}

interface Root {
  readonly root: ProcessIdentity | null;
  /** The recorded agent when nothing shows that it is one of this launch. */
  readonly unproven: readonly ProcessIdentity[];
}

/** The process to begin with: the one of the pane, or the recorded one when it carries the marks. */
async function rootOf({ processes }: TmuxDeps, { agent, pane, ...marks }: Doomed): Promise<Root> {
  const shown = pane === null || pane.dead ? null : ((await processes.identify(pane.panePid)) ?? null);
  if (agent === null || (shown !== null && isSameProcess(agent, shown))) return { root: shown, unproven: [] };
  if ((await aliveOf(processes, [agent])).length === 0) return { root: shown, unproven: [] };
  const marked = await processes.family(null, ...markersOf(marks));
  const isMarked = marked.some((one) => isSameProcess(one, agent));
  return isMarked ? { root: agent, unproven: [] } : { root: shown, unproven: [agent] };
}

async function aliveOf(
  processes: ProcessTable,
  identities: readonly ProcessIdentity[],
): Promise<readonly ProcessIdentity[]> {
  const facts = await processes.look(identities);
  return identities.filter((_identity, index) => facts[index]?.kind !== "dead");
}

/**
 * Ends the session of a pane, unless its ids belong to another one by now. Returns why it may still be there,
 * `null` when it is gone.
 */
async function endSession(deps: TmuxDeps, socketPath: string, pane: PaneRow): Promise<string | null> {
  const server = await deps.processes.identify(pane.serverPid);
  let answer = await askServer(deps.run, socketPath, killSessionArgs(pane));
  const untilMs = performance.now() + GONE_WITHIN_MS;
  for (;;) {
    const isDeaf = answer.kind === "no_server" && (await isAlive(deps, server));
    const why = isDeaf ? deafCause({ pid: pane.serverPid }, socketPath) : whyNotGone(answer, pane);
    if (why === null || performance.now() >= untilMs) return why;
    await sleep(POLL_MS);
    answer = await askServer(deps.run, socketPath);
  }
}

/** A server that ends with its last session is gone a moment after it stopped to listen. */
async function isAlive({ processes }: TmuxDeps, server: ProcessIdentity | undefined): Promise<boolean> {
  return server !== undefined && (await aliveOf(processes, [server])).length > 0;
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
  const isMarkedSame = one.aoSessionId === other.aoSessionId && one.launchId === other.launchId;
  return isMarkedSame && one.sessionId === other.sessionId && one.serverPid === other.serverPid;
}
