import type { LaunchId } from "../../domain/ids.ts";
import type { EnvMarker } from "../../ports/process-table.ts";
import type { SessionDeps } from "../deps.ts";
import { patience } from "../patience.ts";

/** How long a process has to end by itself, and how often it is looked at, in milliseconds. */
const TERM_MS = 1_000;
const POLL_MS = 50;

type Deps = Pick<SessionDeps, "processes" | "clock">;

/**
 * Ends the processes of a launch that carry one of these marks too: TERM first, KILL within a second. Those that
 * cannot be seen or signalled stay; that is no error. Never rejects.
 */
export async function endTools(
  { processes, clock }: Deps,
  launchId: LaunchId,
  marks: readonly EnvMarker[],
): Promise<void> {
  const launch = { name: "AO_LAUNCH_ID", value: launchId };
  const isOver = patience(clock, TERM_MS);
  const find = () => Promise.all(marks.map((mark) => processes.family(null, launch, mark)));
  const signalAll = async (signal: "SIGTERM" | "SIGKILL") => {
    const left = (await find()).flat();
    for (const one of left) await processes.signal(one, signal);
    return left.length > 0;
  };
  try {
    let isLeft = marks.length > 0 && (await signalAll("SIGTERM"));
    while (isLeft && !isOver()) {
      await isOver.pause(POLL_MS);
      isLeft = (await find()).flat().length > 0;
    }
    if (isLeft) await signalAll("SIGKILL");
  } catch {
    // The system would not tell: they are ended with the session.
  }
}
