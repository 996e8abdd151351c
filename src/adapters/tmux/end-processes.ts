import { setTimeout as sleep } from "node:timers/promises";
import type { LaunchId } from "../../domain/ids.ts";
import type { ProcessIdentity } from "../../domain/session.ts";
import type { ProcessTable } from "../../ports/process-table.ts";

/** How long an agent and its tools may take to end by themselves. */
const TERM_MS = 3000;
/** A killed process goes as soon as the system comes to it. */
const KILL_MS = 1500;
const POLL_MS = 10;

export interface ProcessTree {
  /** The agent itself; `null` when it is not known. */
  readonly root: ProcessIdentity | null;
  readonly launchId: LaunchId;
}

/**
 * Ends the agent with all it started, also what left its process group or its terminal: TERM, and KILL for
 * what still lives after 3 s, newcomers included. Returns what lives on, normally nothing.
 *
 * @throws AoError runtime_unavailable when the system would not tell; nothing was signalled then.
 */
export async function endProcesses(
  processes: ProcessTable,
  tree: ProcessTree,
): Promise<readonly ProcessIdentity[]> {
  const left = await signalAll(processes, tree, { signal: "SIGTERM", withinMs: TERM_MS });
  return left.length === 0 ? left : signalAll(processes, tree, { signal: "SIGKILL", withinMs: KILL_MS });
}

async function signalAll(
  processes: ProcessTable,
  { root, launchId }: ProcessTree,
  { signal, withinMs }: { readonly signal: "SIGTERM" | "SIGKILL"; readonly withinMs: number },
): Promise<readonly ProcessIdentity[]> {
  const untilMs = performance.now() + withinMs;
  const signalled = new Set<string>();
  for (;;) {
    const members = await processes.family(root, { name: "AO_LAUNCH_ID", value: launchId });
    if (members.length === 0 || performance.now() >= untilMs) return members;
    const fresh = members.filter(({ pid, startTime }) => !signalled.has(`${pid} ${startTime}`));
    for (const member of fresh) {
      await processes.signal(member, signal);
      signalled.add(`${member.pid} ${member.startTime}`);
    }
    await waitUntilDead(processes, members, untilMs);
  }
}

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
