/** From TERM to KILL, and from KILL until nobody waits any more. */
const GRACE_MS = 2_000;

type Ending = "SIGTERM" | "SIGKILL";

/** Signals every process of the group that `pid` leads; a group that has ended is no error. */
export function signalGroup(pid: number, signal: Ending): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // The group has ended already: there is nothing left to signal.
  }
}

const running = new Map<number, Ending>();

/** The group gets `signal` when this process exits. Returns how to let go of it. One listener for all groups. */
export function endOnExit(pid: number, signal: Ending): () => void {
  if (running.size === 0) process.once("exit", endAll);
  running.set(pid, signal);
  return () => {
    running.delete(pid);
    if (running.size === 0) process.removeListener("exit", endAll);
  };
}

function endAll(): void {
  for (const [pid, signal] of running) signalGroup(pid, signal);
}

/** What watches over the time of a group. */
export interface GroupWatch {
  /** Resolves when even KILL did not end it, as with a process that waits for a lost file system. */
  readonly givenUp: Promise<undefined>;
  /** Begins the time anew, unless it was up already. */
  postpone(): void;
  /** The time is up now. */
  expire(): void;
  /** Ends the watch; whether the time was up. */
  stop(): boolean;
}

/** Ends the group that `pid` leads when the time is up: TERM, KILL 2 s later, given up 2 s after that. */
export function endWhenLate(pid: number, timeoutMs: number): GroupWatch {
  let isLate = false;
  let giveUp: (value: undefined) => void = () => undefined;
  const givenUp = new Promise<undefined>((resolve) => {
    giveUp = resolve;
  });
  const steps = [
    () => signalGroup(pid, "SIGTERM"),
    () => signalGroup(pid, "SIGKILL"),
    () => giveUp(undefined),
  ];
  const arm = (ms: number) =>
    steps.map((step, at) => {
      const due = () => {
        isLate = true;
        step();
      };
      return setTimeout(due, ms + at * GRACE_MS);
    });
  let timers = arm(timeoutMs);
  let isStopped = false;
  const postpone = () => {
    if (!isLate) for (const timer of timers) timer.refresh();
  };
  const disarm = () => {
    for (const timer of timers) clearTimeout(timer);
  };
  const expire = () => {
    if (isLate || isStopped) return;
    isLate = true;
    disarm();
    timers = arm(0);
  };
  const stop = () => {
    isStopped = true;
    disarm();
    return isLate;
  };
  return { givenUp, postpone, expire, stop };
}
