import { setTimeout as sleep } from "node:timers/promises";
import type { LaunchId, SessionId } from "../../domain/ids.ts";
import type { ProcessIdentity } from "../../domain/session.ts";
import type { EnvMarker, ProcessTable } from "../../ports/process-table.ts";

/** How long an agent and its tools may take to end by themselves. */
const TERM_MS = 3000;
/** A killed process goes as soon as the system comes to it. */
const KILL_MS = 1500;
const POLL_MS = 10;

/** What every process of one launch has in its environment. */
export interface LaunchMarks {
  readonly sessionId: SessionId;
  readonly launchId: LaunchId;
}

export interface ProcessTree extends LaunchMarks {
  /** A process that is known to be of this launch, for what it started without its environment; else `null`. */
  readonly root: ProcessIdentity | null;
}

/** The two variables that a process of a launch carries: one alone may be of another session. Pure. */
export function markersOf({ sessionId, launchId }: LaunchMarks): readonly [EnvMarker, EnvMarker] {
  return [
    { name: "AO_SESSION_ID", value: sessionId },
    { name: "AO_LAUNCH_ID", value: launchId },
  ];
}

/**
 * Ends the agent of a launch with all it started, also what left its process group or its terminal: TERM, with HUP for
 * what ignores that, as interactive shells do, and KILL for what still lives after 3 s, newcomers included.
 * Returns what lives on, normally nothing.
 *
 * @throws AoError runtime_unavailable when the system would not tell; nothing was signalled then.
 */
export async function endProcesses(
  processes: ProcessTable,
  tree: ProcessTree,
): Promise<readonly ProcessIdentity[]> {
  const left = await endAll(processes, tree, { end: askToEnd, withinMs: TERM_MS });
  return left.length === 0 ? left : endAll(processes, tree, { end: kill, withinMs: KILL_MS });
}

type End = (processes: ProcessTable, members: readonly ProcessIdentity[]) => Promise<void>;

async function askToEnd(processes: ProcessTable, members: readonly ProcessIdentity[]): Promise<void> {
  const deaf = await processes.deafToTerm(members);
  for (const member of members) await processes.signal(member, "SIGTERM");
  for (const member of deaf) await processes.signal(member, "SIGHUP");
}

async function kill(processes: ProcessTable, members: readonly ProcessIdentity[]): Promise<void> {
  for (const member of members) await processes.signal(member, "SIGKILL");
}

async function endAll(
  processes: ProcessTable,
  { root, ...marks }: ProcessTree,
  { end, withinMs }: { readonly end: End; readonly withinMs: number },
): Promise<readonly ProcessIdentity[]> {
  const told = new Set<string>();
  // Counted from the first signal: a slow listing must not use up the time of those it lists.
  let untilMs: number | undefined;
  for (;;) {
    const members = await processes.family(root, ...markersOf(marks));
    const isOver = untilMs !== undefined && performance.now() >= untilMs;
    if (members.length === 0 || isOver) return members;
    const fresh = members.filter((member) => !told.has(keyOf(member)));
    await end(processes, fresh);
    for (const member of fresh) told.add(keyOf(member));
    untilMs ??= performance.now() + withinMs;
    await waitUntilDead(processes, members, untilMs);
  }
}

const keyOf = ({ pid, startTime }: ProcessIdentity): string => `${pid} ${startTime}`;

async function waitUntilDead(
  processes: ProcessTable,
  members: readonly ProcessIdentity[],
  untilMs: number,
): Promise<void> {
  for (;;) {
    const facts = await processes.look(members);
    if (facts.every(({ kind }) => kind === "dead") || performance.now() >= untilMs) return;
    await sleep(POLL_MS);
  }
}
