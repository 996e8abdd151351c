import { setTimeout as sleep } from "node:timers/promises";
import { AoError } from "../../domain/errors.ts";
import type { OperationId } from "../../domain/operation.ts";
import type { ProcessIdentity } from "../../domain/session.ts";
import type { ProcessTable } from "../../ports/process-table.ts";
import { OPERATION_VARIABLE } from "./operation-marks.ts";

type Processes = Pick<ProcessTable, "family" | "signal">;

/** git takes back what it has begun when it gets TERM; a command of the user may take a while. */
const TERM_MS = 2_000;
const KILL_MS = 1_500;
const POLL_MS = 20;

/**
 * Ends all child processes that a making left running when its own process died.
 *
 * @throws AoError runtime_unavailable when the system would not tell of processes.
 * @throws AoError teardown_incomplete when one lives on.
 */
export async function endStrays(processes: Processes, operationId: OperationId | null): Promise<void> {
  if (operationId === null) return;
  const left = await endWithin(processes, operationId, { signal: "SIGTERM", withinMs: TERM_MS });
  if (left.length === 0) return;
  const survivors = await endWithin(processes, operationId, { signal: "SIGKILL", withinMs: KILL_MS });
  if (survivors.length === 0) return;
  const names = survivors.map(({ pid }) => `process ${pid}`);
  throw new AoError("teardown_incomplete", `operation ${operationId} still runs: ${names.join(", ")}`, {
    details: {
      left: survivors.map(({ pid }) => ({ what: "process", where: `${pid}`, why: "it would not end" })),
    },
  });
}

interface Ending {
  readonly signal: "SIGTERM" | "SIGKILL";
  readonly withinMs: number;
}

async function endWithin(
  processes: Processes,
  operationId: OperationId,
  { signal, withinMs }: Ending,
): Promise<readonly ProcessIdentity[]> {
  const untilMs = performance.now() + withinMs;
  const told = new Set<number>();
  for (;;) {
    const found = await processes.family(null, { name: OPERATION_VARIABLE, value: operationId });
    if (found.length === 0 || performance.now() >= untilMs) return found;
    for (const stray of found.filter(({ pid }) => !told.has(pid))) {
      await processes.signal(stray, signal);
      told.add(stray.pid);
    }
    await sleep(POLL_MS);
  }
}
